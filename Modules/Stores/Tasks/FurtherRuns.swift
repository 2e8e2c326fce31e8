/// A run that was admitted beside another one of its operation: see ``OperationContext/beginFurtherRun()``.
public struct FurtherRun: Sendable {
  private let finish: @Sendable ((any Error)?) -> Void

  /// Creates a run that was admitted.
  ///
  /// - Parameter finish: Gives back what the run was admitted with. Called once, with no lock held. It receives the error of the
  ///   run, which is a ``LocalRejection`` if it has not begun after all; nil for a value.
  public init(_ finish: @escaping @Sendable ((any Error)?) -> Void) {
    self.finish = finish
  }

  /// Notes the end of the run, and of the work that it has left behind. Call it once, with no lock held.
  ///
  /// - Parameter error: The error of the run; nil for a value.
  public func end(after error: (any Error)?) { self.finish(error) }

  /// Notes that the run does not begin after all. Call it in place of ``end(after:)``.
  public func cancel() { self.finish(NotBegun()) }

  private struct NotBegun: LocalRejection {}
}

extension OperationContext {
  /// Whether a modifier of the operation begins several runs of it at once, as a hedge does.
  ///
  /// Such a modifier sets it in its setup, and asks before each run beside the first: see ``beginFurtherRun()``.
  public var operationBeginsFurtherRuns: Bool {
    @inlinable get { self.isSet(BeginsFurtherRunsKey.self) && self[BeginsFurtherRunsKey.self] }
    set { if newValue != self.operationBeginsFurtherRuns { self[BeginsFurtherRunsKey.self] = newValue } }
  }

  /// Lets a closure decide whether a modifier inside may begin a run beside the first one.
  ///
  /// For modifiers that count runs, such as limits, where ``operationBeginsFurtherRuns`` holds. The modifiers around this one
  /// are asked before it.
  ///
  /// - Parameter admit: Returns the admitted run; nil if it may not begin. Called with no lock held.
  public mutating func admitFurtherRuns(_ admit: @escaping @Sendable () -> FurtherRun?) {
    guard let outer = self[FurtherRunsKey.self] else {
      self[FurtherRunsKey.self] = admit
      return
    }
    self[FurtherRunsKey.self] = {
      guard let first = outer() else { return nil }
      guard let own = admit() else {
        first.cancel()
        return nil
      }
      return FurtherRun { error in
        own.end(after: error)
        first.end(after: error)
      }
    }
  }

  /// Whether something around the modifier with this context counts runs, so that ``beginFurtherRun()`` has to be asked.
  public var countsFurtherRuns: Bool { self.isSet(FurtherRunsKey.self) }

  /// Asks what counts runs around a modifier whether another run of its operation may begin beside those that go on.
  ///
  /// - Returns: The run, which has to be ended; nil if it may not begin. Without anything around, each run may begin.
  public func beginFurtherRun() -> FurtherRun? {
    guard let admit = self[FurtherRunsKey.self] else { return FurtherRun { _ in } }
    return admit()
  }

  @usableFromInline
  enum BeginsFurtherRunsKey: Key {
    @usableFromInline static let defaultValue = false
    @usableFromInline static let belongsToSetup = true
  }

  private enum FurtherRunsKey: Key {
    static let defaultValue: (@Sendable () -> FurtherRun?)? = nil
    static let belongsToSetup = true
  }
}
