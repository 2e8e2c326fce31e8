#if os(Linux)
  import Foundation
  import Glibc
  import OperationCore
  import OperationNetworkObserving
  import OperationTesting
  import TestFixtures
  import Testing

  /// The resources of an observer in a process that does nothing else.
  @Suite(.bounded) struct ProcessTests {
    @Test func `No descriptor and no thread is left after the last subscription`() async {
      await #expect(processExitsWith: .success) {
        let observer = NetlinkNetworkObserver.startingShared()
        observer.subscribe { _ in }.cancel()
        for _ in 0..<20 {
          let subscriptions = (0..<10).map { _ in observer.subscribe { _ in } }
          expect(ProcessTests.openSocketCount, equals: 2)
          for subscription in subscriptions { subscription.cancel() }
          expect(ProcessTests.openSocketCount, equals: 0)
          expect(RunningThreads.count(named: "operation-loop"), equals: 0)
        }
      }
    }

    @Test func `Without subscribers two sockets and no thread stay until the observer is released`() async {
      await #expect(processExitsWith: .success) {
        do {
          let observer = NetlinkNetworkObserver()
          for _ in 0..<100 { _ = observer.currentStatus }
          expect(ProcessTests.openSocketCount, equals: 2)
          expect(RunningThreads.count(named: "operation-loop"), equals: 0)
          observer.subscribe { _ in }.cancel()
          expect(ProcessTests.openSocketCount, equals: 0)
          _ = observer.currentStatus
          expect(ProcessTests.openSocketCount, equals: 2)
        }
        expect(ProcessTests.openSocketCount, equals: 0)
      }
    }

    @Test func `Without descriptors at the first subscription it observes the network once there are some again`() async
    {
      await #expect(processExitsWith: .success) {
        var limit = rlimit()
        getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        limit.rlim_cur = 64
        setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
        var descriptors: [CInt] = []
        while case let descriptor = open("/dev/null", O_RDONLY | O_CLOEXEC), descriptor >= 0 {
          descriptors.append(descriptor)
        }
        let observer = NetlinkNetworkObserver(requirement: .interface("no-such-link"))
        let isDisconnected = Gate()
        let warnings = Log<OperationWarning>()
        let subscription = OperationWarning.withReporter {
          warnings.append($0)
        } operation: {
          observer.subscribe { if $0 == .disconnected { isDisconnected.open() } }
        }
        for descriptor in descriptors { close(descriptor) }
        try await isDisconnected.wait()
        subscription.cancel()
        expect(warnings.all.map(\.severity), equals: [.failure, .failure])
      }
    }

    /// The number of netlink sockets. The testing library opens and closes other descriptors.
    private static var openSocketCount: Int {
      let descriptors = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd")) ?? []
      return descriptors.count { descriptor in
        var domain: CInt = 0
        var size = socklen_t(MemoryLayout<CInt>.size)
        let status = CInt(descriptor).map { getsockopt($0, SOL_SOCKET, SO_DOMAIN, &domain, &size) }
        return status == 0 && domain == AF_NETLINK
      }
    }
  }
#endif
