extension OperationContext {
  /// Waits for something, such as a permit or a condition, so that explanations, events and wait graphs show it.
  ///
  /// ```swift
  /// let permit = try await context.awaiting("a permit of the printer") { try await printer.permit() }
  /// ```
  ///
  /// During a pause, ``OperationState/isPaused`` is true in the state of the run's store, and in the stores of other
  /// callers that share the run. To wait for an ``OperationRunSpecification``, use ``pause(until:timeout:)``. Call it only
  /// where a run has to wait. Outside of a store it only waits.
  ///
  /// - Parameters:
  ///   - subject: The text that follows "it waits for", and for a pause "it waits until", without user data.
  ///     Evaluated with no lock held, also during the wait.
  ///   - isPause: Whether the run waits for a condition, during which it is paused. False by default.
  ///   - wait: Waits, in the isolation of the caller.
  /// - Returns: The result of `wait`.
  /// - Throws: The error of `wait`.
  public nonisolated(nonsending) func awaiting<R, E: Error>(
    _ subject: @escaping @autoclosure @Sendable () -> String,
    isPause: Bool = false,
    _ wait: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    if isPause { return try await self.pausing(until: subject, wait) }
    let noted = self.beginWait(for: subject)
    defer { self.endWait(noted) }
    guard let loan = NodeWork.lend(for: subject, isPause: false, in: self) else { return try await wait() }
    let result: Result<R, E>
    do throws(E) { result = .success(try await wait()) } catch { result = .failure(error) }
    await loan.end()
    return try result.get()
  }

  private nonisolated(nonsending) func pausing<R, E: Error>(
    until condition: () -> String,
    _ wait: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    let (observers, reason) = (RunPauses.current, condition())
    let loan = NodeWork.lend(for: { reason }, isPause: true, in: self)
    for observer in observers.reversed() { observer.runWillPause(until: reason) }
    self.report(.paused(RunPause(reason: reason, start: self.elapsed)))
    let result: Result<R, E>
    do throws(E) { result = .success(try await wait()) } catch { result = .failure(error) }
    self.report(.resumed)
    for observer in observers { await observer.runDidPause() }
    await loan?.end()
    return try result.get()
  }
}
