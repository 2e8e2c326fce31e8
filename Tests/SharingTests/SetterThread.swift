import Dispatch

/// Runs a closure on another thread while the current one waits.
struct SetterThread {
  private let body: @Sendable () -> Void

  init(_ body: @escaping @Sendable () -> Void) {
    self.body = body
  }

  func runAndWait() {
    let done = DispatchSemaphore(value: 0)
    DispatchQueue.global().async { [body] in
      body()
      done.signal()
    }
    done.wait()
  }
}
