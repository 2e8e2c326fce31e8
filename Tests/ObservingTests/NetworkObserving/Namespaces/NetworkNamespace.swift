#if os(Linux)
  import Dispatch
  import Foundation
  import Glibc
  import OperationCore
  import OperationEventLoop
  import OperationTesting
  import Synchronization
  import TestFixtures
  import Testing

  @testable import OperationNetworkObserving

  /// A network namespace, like a machine without cables.
  ///
  /// It belongs to a thread, which opens sockets and runs commands.
  final class NetworkNamespace: Sendable {
    private typealias Job = @Sendable () -> Void

    /// The jobs of the thread, in order; nil ends the thread.
    private let jobs = Mutex<[Job?]>([])
    private let arrival = DispatchSemaphore(value: 0)

    private init() {}

    /// The reason why no namespace can be created; nil if it can.
    static let obstacle: String? = {
      guard ipCommand != nil else { return "the command 'ip' is missing" }
      let result = Mutex<CInt>(0)
      let end = DispatchSemaphore(value: 0)
      Thread.detachNewThread { @Sendable in
        result.withLock { $0 = leaveNetwork() }
        end.signal()
      }
      end.wait()
      let code = result.withLock { $0 }
      return code == 0 ? nil : "no network namespace can be created: \(String(cString: strerror(code)))"
    }()

    static var isAllowed: Bool { self.obstacle == nil }

    static func make() throws -> NetworkNamespace {
      let namespace = NetworkNamespace()
      Thread.detachNewThread { @Sendable in namespace.work() }
      let code = namespace.sync { leaveNetwork() }
      guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EPERM) }
      return namespace
    }

    /// Ends the thread, and the namespace once all its sockets are closed.
    func end() {
      self.enqueue(nil)
    }

    /// Runs `body` on the thread of the namespace.
    func sync<R: Sendable>(_ body: @escaping @Sendable () -> R) -> R {
      let result = Mutex<R?>(nil)
      let end = DispatchSemaphore(value: 0)
      self.enqueue {
        let value = body()
        result.withLock { $0 = value }
        end.signal()
      }
      end.wait()
      guard let value = result.withLock({ $0 }) else { fatalError("The thread of the namespace has returned nothing.") }
      return value
    }

    /// Runs commands of `ip`, one on each line, and throws if one fails.
    func ip(_ commands: String) throws {
      for command in commands.split(separator: "\n") {
        let words = command.split(separator: " ").map(String.init)
        guard !words.isEmpty else { continue }
        let status = self.sync { spawn(words) }
        guard status == 0 else { throw CommandFailure(command: String(command), status: status) }
      }
    }

    private func enqueue(_ job: Job?) {
      self.jobs.withLock { $0.append(job) }
      self.arrival.signal()
    }

    private func next() -> Job? {
      self.arrival.wait()
      return self.jobs.withLock { $0.removeFirst() }
    }

    private func work() {
      while let job = self.next() { job() }
    }
  }

  struct CommandFailure: Error {
    let command: String
    let status: CInt
  }

  private let ipCommand: String? = {
    let places: [String] = ["/usr/sbin/ip", "/sbin/ip", "/usr/bin/ip", "/bin/ip"]
    return places.first { access($0, X_OK) == 0 }
  }()

  /// Moves the current thread to a network namespace of its own, and returns the error.
  private func leaveNetwork() -> CInt {
    typealias Unshare = @convention(c) (CInt) -> CInt
    guard let symbol = dlsym(nil, "unshare") else { return ENOSYS }
    let cloneNewNetwork: CInt = 0x4000_0000
    // The type of the function, as its manual page says.
    return unsafeBitCast(symbol, to: Unshare.self)(cloneNewNetwork) == 0 ? 0 : errno
  }

  /// Runs `ip` in the namespace of the current thread, and returns its exit status.
  private func spawn(_ words: [String]) -> CInt {
    guard let ipCommand else { return ENOENT }
    var arguments: [UnsafeMutablePointer<CChar>?] = ([ipCommand] + words).map { strdup($0) }
    arguments.append(nil)
    defer { for argument in arguments { free(argument) } }
    var child = pid_t()
    let code = posix_spawn(&child, ipCommand, nil, nil, arguments, environ)
    guard code == 0 else { return code }
    var status: CInt = 0
    while waitpid(child, &status, 0) < 0, errno == EINTR {}
    return status
  }

  // MARK: - Observing

  extension NetworkNamespace {
    /// The system, as the thread of the namespace uses it.
    var system: NetworkSystem {
      NetworkSystem(
        openFeed: { () throws(SystemFailure) in
          try self.open { () throws(SystemFailure) in try NetworkSystem.current.openFeed() }
        },
        openChannel: { () throws(SystemFailure) in
          try self.open { () throws(SystemFailure) in try NetworkSystem.current.openChannel() }
        },
        probe: { destination throws(SystemFailure) in
          try self.open { () throws(SystemFailure) in try NetworkSystem.current.probe(destination) }
        }
      )
    }

    func open<Value: Sendable>(
      _ body: @escaping @Sendable () throws(SystemFailure) -> Value
    ) throws(SystemFailure) -> Value {
      let result: Result<Value, SystemFailure> = self.sync { Result { () throws(SystemFailure) in try body() } }
      return try result.get()
    }

    func observer(
      _ requirement: NetlinkNetworkObserver.Requirement = .defaultRoute,
      excluding isExcluded: (@Sendable (NetlinkNetworkObserver.Interface) -> Bool)? = nil,
      settings change: (inout WatchSettings) -> Void = { _ in }
    ) -> NetlinkNetworkObserver {
      var settings = WatchSettings()
      settings.system = self.system
      change(&settings)
      return NetlinkNetworkObserver(requirement: requirement, excluding: isExcluded, settings: settings)
    }

    /// The current status, from a new reading.
    func status(
      _ requirement: NetlinkNetworkObserver.Requirement = .defaultRoute,
      excluding isExcluded: (@Sendable (NetlinkNetworkObserver.Interface) -> Bool)? = nil
    ) -> NetworkConnectionStatus {
      self.observer(requirement, excluding: isExcluded).currentStatus
    }

    /// The current status if the kernel answers no requests.
    func probedStatus() -> NetworkConnectionStatus {
      self.observer(settings: { settings in
        settings.system.openChannel = { () throws(SystemFailure) in throw SystemFailure(call: "socket", code: EPERM) }
      }).currentStatus
    }

    /// Waits until the status is `status`, because the kernel changes carriers in the background.
    func becomes(_ status: NetworkConnectionStatus) async throws {
      let log = Receiver<NetworkConnectionStatus>()
      let subscription = self.observer().subscribe { log.receive($0) }
      try await log.last(status)
      subscription.cancel()
    }

    /// Adds a cable from `v0`, which has an address and a default route, to `v1`.
    func connect() throws {
      try self.ip(
        """
        link add v0 type veth peer name v1
        link set v1 up
        link set v0 up
        addr add 10.0.0.1/24 dev v0
        route add default via 10.0.0.2
        """
      )
    }
  }
#endif
