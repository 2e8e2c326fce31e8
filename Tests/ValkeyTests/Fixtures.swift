#if SwiftOperationValkey && os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationFleet
  import OperationTesting
  import Synchronization
  import Testing

  @testable import OperationValkey

  /// Where the tests with a server are skipped: with the reason, or never where a check demands them.
  enum ServerTests {
    static let areOn = setting == "required" || (setting != "skipped" && ValkeyServer.program != nil)
    static let comment: Comment =
      setting == "skipped"
      ? "SWIFT_OPERATION_FLEET is \"skipped\"."
      : "No Valkey or Redis server is installed (Debian: apt-get install redis-server)."

    /// `required` or `skipped`; by default the tests run where there is a server.
    private static let setting = ProcessInfo.processInfo.environment["SWIFT_OPERATION_FLEET"]

    private static let number = Atomic(0)

    /// A prefix that no other test has.
    static func newPrefix() -> String {
      "test_\(self.number.wrappingAdd(1, ordering: .relaxed).newValue)"
    }
  }

  extension Trait where Self == ConditionTrait {
    /// Runs the test where a server is installed.
    static var needsServer: Self { .enabled(if: ServerTests.areOn, ServerTests.comment) }
  }

  /// The prefixes of fleets.
  final class PrefixesByFleet: Sendable {
    private let prefixes = Locked<[ObjectIdentifier: String]>([:])

    func add(_ prefix: String, of fleet: ValkeyFleet) {
      self.prefixes.withLock { $0[ObjectIdentifier(fleet)] = prefix }
    }

    func prefix(of fleet: ValkeyFleet) -> String {
      self.prefixes.withLock { $0[ObjectIdentifier(fleet)] } ?? ""
    }
  }

  /// A port at which nobody listens.
  func freePort() throws -> Int {
    let listener = socket(AF_INET, CInt(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = inet_addr("127.0.0.1")
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let isBound = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && getsockname(listener, $0, &length) == 0
      }
    }
    guard isBound else { throw ValkeyServer.Failure(description: "no port is free") }
    return Int(UInt16(bigEndian: address.sin_port))
  }

  // MARK: - Calls

  extension ValkeyFleet {
    /// A fleet with internal settings.
    convenience init(
      _ connection: String,
      prefix: String,
      timeout: Duration = .seconds(30),
      maximumInvalidations: Int = 200_000,
      deadlines: any DeadlineSource = .system
    ) throws {
      let address = try ServerAddress(connection)
      try self.init(
        ConnectionOpening(address, deadlines: deadlines),
        listening: ConnectionOpening(address, deadlines: deadlines),
        keys: FleetKeys(prefix: prefix, database: address.database),
        timeout: timeout,
        deadlines: deadlines,
        maximumInvalidations: maximumInvalidations
      )
    }

    func grant(
      _ text: String,
      to owner: String = "a",
      for duration: Duration = .seconds(3_600)
    ) async throws -> (lease: FleetLease, epoch: FleetEpoch) {
      // Though there may be a fresh value.
      let request = FleetLeaseRequest(key: key(text), owner: owner, duration: duration, knownRevision: .max)
      let answer = try await self.acquireLease(request)
      guard case .granted(let lease, let epoch) = answer else {
        throw ValkeyServer.Failure(description: "no lease of \(text): \(answer)")
      }
      return (lease, epoch)
    }

    func store(
      _ bytes: [UInt8],
      _ granted: (lease: FleetLease, epoch: FleetEpoch),
      tags: [FleetSubject] = []
    ) async throws -> FleetWriteAnswer {
      try await self.store(
        FleetWrite(
          lease: granted.lease,
          epoch: granted.epoch,
          tags: tags,
          bytes: bytes,
          timeToLive: .seconds(3_600)
        )
      )
    }

    /// Stores a value under a new lease, and returns its revision.
    @discardableResult
    func put(_ text: String, _ bytes: [UInt8] = [1]) async throws -> Int64 {
      let answer = try await self.store(bytes, try await self.grant(text))
      guard case .stored(let revision) = answer else {
        throw ValkeyServer.Failure(description: "\(text) was not stored: \(answer)")
      }
      return revision
    }

    func value(_ text: String) async throws -> [UInt8]? {
      try await self.lookUp([key(text)]).values[0]?.bytes
    }

    @discardableResult
    func invalidate(_ subject: String) async throws -> FleetEpoch {
      try await self.invalidate([FleetSubject(subject)], by: "node")
    }

    /// Looks up values as soon as the server answers again.
    func lookUpWhenBack(_ text: String) async throws -> FleetLookup {
      try await withTimeLimit("the fleet to connect again", .seconds(60)) {
        while true {
          if let found = try? await self.lookUp([key(text)]) { return found }
        }
      }
    }
  }

  func key(_ text: String) -> FleetKey {
    FleetKey(text, subjects: [FleetSubject("all"), FleetSubject(text)])
  }

  /// The messages that a handler has received.
  final class MessageLog: Sendable {
    private struct State: Sendable {
      var messages: [FleetMessage] = []
      var waiting: [(FleetMessage, times: Int, AwaitedOutcome<Void>)] = []

      func contains(_ message: FleetMessage, times: Int) -> Bool {
        self.messages.count { $0 == message } >= times
      }
    }

    private let state = Locked(State())

    /// Decided when nothing has the log any more.
    let released = AwaitedOutcome<Void>()

    deinit { self.released.decide() }

    var all: [FleetMessage] { self.state.withLock { $0.messages } }

    func count(of message: FleetMessage) -> Int { self.all.count { $0 == message } }

    func add(_ message: FleetMessage) {
      let ready = self.state.withLock { state in
        state.messages.append(message)
        let waiting = state.waiting
        state.waiting = waiting.filter { !state.contains($0.0, times: $0.times) }
        return waiting.filter { state.contains($0.0, times: $0.times) }
      }
      for (_, _, outcome) in ready { outcome.decide() }
    }

    func wait(for message: FleetMessage, times: Int = 1) async throws {
      let outcome = AwaitedOutcome<Void>()
      let isThere = self.state.withLock { state in
        if state.contains(message, times: times) { return true }
        state.waiting.append((message, times, outcome))
        return false
      }
      if isThere { return }
      try await withTimeLimit("the message \(message)", .seconds(60)) { await outcome.value() }
    }
  }
#endif
