/// Counts calls.
final class CallCounter: Sendable {
  private let total = AwaitableState(0)

  var count: Int { self.total.current }

  func note() {
    self.total.change { $0 += 1 }
  }

  /// Waits until there are `count` calls. Records no issue.
  func calls(atLeast count: Int, within limit: Duration, _ what: String) async throws {
    try await self.total.wait(.cancellable(limit)) { calls in
      "\(what); there were \(calls) calls, not \(count)"
    } until: { calls in
      calls >= count ? () : nil
    }
  }
}
