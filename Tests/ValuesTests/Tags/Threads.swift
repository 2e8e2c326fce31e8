import Dispatch
import TestFixtures

/// Calls `body` on another thread, and returns whether it ends, which it does not if it needs a lock of this thread.
func finishesElsewhere(_ body: @escaping @Sendable () -> Void) -> Bool {
  let end = DispatchSemaphore(value: 0)
  DispatchQueue(label: "tags").async {
    body()
    end.signal()
  }
  return end.waitForSignal()
}

/// Calls `body` on `count` threads at the same time, with the numbers from 0.
func onThreads(_ count: Int, _ body: @escaping @Sendable (Int) -> Void) async {
  await withDiscardingTaskGroup { group in
    for number in 0..<count {
      group.addTask {
        await withCheckedContinuation { continuation in
          // A queue for each, so that each has its own thread.
          DispatchQueue(label: "tags \(number)").async {
            body(number)
            continuation.resume()
          }
        }
      }
    }
  }
}
