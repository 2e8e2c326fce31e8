#if SwiftOperationPostgreSQL
  /// The pauses between attempts to reach a server: they double up to a limit, and each is shortened at random by up to a
  /// half, so that the processes of a fleet do not come back at the same moment.
  struct ReconnectDelay: Sendable {
    var first = Duration.milliseconds(50)
    var longest = Duration.seconds(5)
    /// A number from zero to one.
    var random: @Sendable () -> Double = { Double.random(in: 0...1) }

    /// The pause after so many failures in a row.
    func callAsFunction(_ failureCount: Int) -> Duration {
      let whole = min(self.first * (1 << min(max(failureCount - 1, 0), 20)), self.longest)
      return whole * (1 - self.random() / 2)
    }
  }
#endif
