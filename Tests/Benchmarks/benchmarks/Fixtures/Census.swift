internal import Dispatch
internal import Synchronization

/// Counts the tokens that are alive.
final class Census: Sendable {
  /// Something that is alive while anybody holds it.
  final class Token: Sendable {
    private let census: Census

    fileprivate init(_ census: Census) {
      self.census = census
      census.count.withLock { $0.alive += 1 }
    }

    deinit {
      self.census.tokenWent()
    }

    /// Does nothing: a closure that calls it holds the token.
    func touch() {}
  }

  private struct Count {
    var alive = 0
    var waiter: UnsafeContinuation<Void, Never>?
  }

  private let count = Mutex(Count())

  func token() -> Token { Token(self) }

  /// How many are alive when none is or time is up: what ends on another thread may take a moment.
  func remaining() async -> Int {
    await withUnsafeContinuation { continuation in
      let isOver = self.count.withLock { count in
        if count.alive > 0 { count.waiter = continuation }
        return count.alive == 0
      }
      if isOver { return continuation.resume() }
      DispatchQueue.global().asyncAfter(deadline: .now() + .seconds(2)) {
        self.count.withLock { $0.waiter.take() }?.resume()
      }
    }
    return self.count.withLock { $0.alive }
  }

  private func tokenWent() {
    let waiter = self.count.withLock { count in
      count.alive -= 1
      return count.alive == 0 ? count.waiter.take() : nil
    }
    waiter?.resume()
  }
}
