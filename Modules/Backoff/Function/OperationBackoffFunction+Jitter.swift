extension OperationBackoffFunction {
  /// Spreads the delays at random, so that operations that failed together are not retried together.
  ///
  /// - Parameter jitter: The range to draw from. ``OperationJitter/full`` is uniform between zero and the delay.
  /// - Returns: A copy of this function with the jitter.
  public func jittered(_ jitter: OperationJitter = .full) -> Self {
    self.applying(AppliedJitter(jitter: jitter, source: .system))
  }

  /// Spreads the delays at random, with your random number generator.
  ///
  /// - Parameters:
  ///   - jitter: The range to draw from. ``OperationJitter/full`` is uniform between zero and the delay.
  ///   - generator: Draws the delays. The function and its copies share it behind a lock.
  /// - Returns: A copy of this function with the jitter.
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
