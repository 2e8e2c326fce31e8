#if os(Linux)
  import Foundation
  import OperationCore
  import OperationNetworkObserving
  import Testing

  /// What the observer leaves in a process that does nothing else.
  @Suite struct ProcessTests {
    @Test func `No descriptor and no thread is left after the last subscription`() async {
      await #expect(processExitsWith: .success) {
        let observer = NetlinkNetworkObserver.startingShared()
        observer.subscribe { _ in }.cancel()
        let before = ProcessTests.openDescriptors
        for _ in 0..<20 {
          let subscriptions = (0..<10).map { _ in observer.subscribe { _ in } }
          // Two sockets, and both ends of the loop's pipe.
          #expect(ProcessTests.openDescriptors == before + 4)
          for subscription in subscriptions { subscription.cancel() }
          #expect(ProcessTests.openDescriptors == before)
          #expect(ProcessTests.loopThreadCount == 0)
        }
      }
    }

    @Test func `Single questions keep two sockets and no thread until the observer goes`() async {
      await #expect(processExitsWith: .success) {
        let before = ProcessTests.openDescriptors
        do {
          let observer = NetlinkNetworkObserver()
          for _ in 0..<100 { _ = observer.currentStatus }
          #expect(ProcessTests.openDescriptors == before + 2)
          #expect(ProcessTests.loopThreadCount == 0)
          observer.subscribe { _ in }.cancel()
          #expect(ProcessTests.openDescriptors == before)
          _ = observer.currentStatus
          #expect(ProcessTests.openDescriptors == before + 2)
        }
        #expect(ProcessTests.openDescriptors == before)
      }
    }

    private static var openDescriptors: Int {
      (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd"))?.count ?? 0
    }

    private static var loopThreadCount: Int {
      let threads = (try? FileManager.default.contentsOfDirectory(atPath: "/proc/self/task")) ?? []
      return threads.count { thread in
        let name = try? String(contentsOfFile: "/proc/self/task/\(thread)/comm", encoding: .utf8)
        return name == "operation-loop\n"
      }
    }
  }
#endif
