/// The pauses between attempts to reach a server: they double up to a limit, and each is shortened at random by up to a
/// half, so that the processes of a fleet do not come back at the same moment.
package struct ReconnectDelay: Sendable {
  private let first = Duration.milliseconds(50)
  private let longest = Duration.seconds(5)

  package init() {}

  /// The pause after so many failures in a row.
  package func callAsFunction(_ failureCount: Int) -> Duration {
    let whole = min(self.first * (1 << min(max(failureCount - 1, 0), 20)), self.longest)
    return whole * (1 - Double.random(in: 0...1) / 2)
  }
}
