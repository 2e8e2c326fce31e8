/// Prepares the runs of an operation in the turn of the callers that start them.
///
/// A run continues in a task of its own, and tasks that begin one after the other may overtake each other. What has to
/// be in the order of the calls, such as places in a queue, is therefore taken here. A modifier adds a preparation in
/// its setup; the store that is being set up then removes it from the context.
///
/// The runs that ``OperationStore/run(using:handler:)`` and calls like it begin are prepared: not those of tasks, which
/// may wait for others before their work, nor those for subscribers. So a modifier that finds nothing prepared does its
/// work when a run comes to it.
public protocol OperationRunPreparation: Sendable {
  /// Called when a caller begins a run, on the actor of the caller, before the task of the run exists.
  ///
  /// - Parameters:
  ///   - operation: The type of the operation of the store, with all its modifiers. See
  ///     ``OperationRequest/reachesAtOnce(where:)``.
  ///   - context: The context of the run, which the implementation may change.
  func runWillBegin(of operation: any OperationRequest.Type, in context: inout OperationContext)

  /// Called when a run has ended, or the caller that has begun it leaves: takes back what the run has not used. It is
  /// called twice for most runs.
  func runDidEnd(in context: OperationContext)
}

extension OperationContext {
  /// Adds a preparation, or replaces one of the same type. They are called in the order in which they were added.
  public mutating func setRunPreparation<Preparation: OperationRunPreparation>(_ preparation: Preparation) {
    var preparations = self[RunPreparationsKey.self]
    if let index = preparations.firstIndex(where: { $0 is Preparation }) {
      preparations[index] = preparation
    } else {
      preparations.append(preparation)
    }
    self[RunPreparationsKey.self] = preparations
  }

  /// The preparation of a type that a modifier inside has set during this setup; nil without one.
  public func runPreparation<Preparation: OperationRunPreparation>(of type: Preparation.Type) -> Preparation? {
    for case let preparation as Preparation in self[RunPreparationsKey.self] { return preparation }
    return nil
  }

  var hasRunPreparations: Bool { self.isSet(RunPreparationsKey.self) }

  mutating func takeRunPreparations() -> [any OperationRunPreparation] {
    let preparations = self[RunPreparationsKey.self]
    self.unset(RunPreparationsKey.self)
    return preparations
  }

  private enum RunPreparationsKey: Key {
    static let defaultValue: [any OperationRunPreparation] = []
  }
}

extension OperationRequest {
  /// Whether a run comes to a modifier without a wait: all modifiers outside of it begin their operation at once.
  ///
  /// - Parameter isSought: Returns true for the type of the modifier. The outermost one counts.
  /// - Returns: Whether there is such a modifier, and ``OperationModifier/beginsAtOnce`` is true for those outside of
  ///   it.
  public static func reachesAtOnce(where isSought: (any Any.Type) -> Bool) -> Bool {
    var reaches = false
    _ = self.hasModifier { modifier in
      reaches = isSought(modifier)
      return reaches || (modifier as? any OperationModifier.Type)?.beginsAtOnce != true
    }
    return reaches
  }
}
