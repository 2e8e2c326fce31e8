import Foundation
import Synchronization

/// Runs `body` on `count` threads of their own, which set off together, and waits until all have returned.
///
/// - Parameters:
///   - count: The number of threads.
///   - stackSize: The size of their stacks in bytes; nil for that of the system.
///   - body: Gets the number of the thread, from 0.
package func onThreads(_ count: Int, stackSize: Int? = nil, _ body: @escaping @Sendable (Int) -> Void) async {
  let start = StartingLine(count)
  await withCheckedContinuation { continuation in
    let end = Finish(remaining: count) { continuation.resume() }
    for number in 0..<count {
      let thread = Thread { @Sendable in
        start.wait()
        body(number)
        end.arrive()
      }
      if let stackSize { thread.stackSize = stackSize }
      thread.start()
    }
  }
}

/// Lets threads go when all of them have come.
private final class StartingLine: @unchecked Sendable {
  // Unchecked because the count is only touched while the condition is locked.
  private let condition = NSCondition()
  private var missing: Int

  init(_ count: Int) {
    self.missing = count
  }

  func wait() {
    self.condition.lock()
    defer { self.condition.unlock() }
    self.missing -= 1
    if self.missing == 0 { return self.condition.broadcast() }
    while self.missing > 0 { self.condition.wait() }
  }
}

private final class Finish: Sendable {
  private let remaining: Mutex<Int>
  private let action: @Sendable () -> Void

  init(remaining: Int, action: @escaping @Sendable () -> Void) {
    self.remaining = Mutex(remaining)
    self.action = action
  }

  func arrive() {
    let isLast = self.remaining.withLock { remaining in
      remaining -= 1
      return remaining == 0
    }
    if isLast { self.action() }
  }
}
