extension OperationBackoffFunction {
  /// Spreads the delays at random, so that many who failed together do not come back together.
  ///
  /// - Parameter jitter: The range to draw from. ``OperationJitter/full`` is uniform between zero and the delay.
  public func jittered(_ jitter: OperationJitter = .full) -> Self {
    self.applying(AppliedJitter(jitter: jitter, source: .system))
  }

  /// Spreads the delays at random, using a random number generator of your own.
  ///
  /// - Parameters:
  ///   - jitter: The range to draw from. ``OperationJitter/full`` is uniform between zero and the delay.
  ///   - generator: Draws the delays. The function and its copies share it, and it is used under a lock.
  public func jittered(
    _ jitter: OperationJitter = .full,
    using generator: some RandomNumberGenerator & Sendable
  ) -> Self {
    self.applying(AppliedJitter(jitter: jitter, source: RandomSource(generator)))
  }

  private func applying(_ jitter: AppliedJitter) -> Self {
    var copy = self
    copy.jitters.append(jitter)
    return copy
  }
}
