internal import Dispatch
internal import Synchronization

/// Counts the tokens that are alive.
final class TokenCounter: Sendable {
  /// An object that is counted while it is alive.
  final class Token: Sendable {
    private let tokens: TokenCounter

    fileprivate init(_ tokens: TokenCounter) {
      self.tokens = tokens
      tokens.count.withLock { $0.alive += 1 }
    }

    deinit {
      self.tokens.removeToken()
    }

    /// Does nothing: a closure that calls it retains the token.
    func touch() {}
  }

  private struct Count {
    var alive = 0
    var waiter: UnsafeContinuation<Void, Never>?
  }

  private let count = Mutex(Count())

  func token() -> Token { Token(self) }

  /// Returns the number of living tokens, after a wait of at most two seconds for the last one to be released.
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

  private func removeToken() {
    let waiter = self.count.withLock { count in
      count.alive -= 1
      return count.alive == 0 ? count.waiter.take() : nil
    }
    waiter?.resume()
  }
}
