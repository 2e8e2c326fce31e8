public import OperationCore
public import OperationMutation

extension MutationRequest {
  /// Lets scheduled calls begin only while a condition holds.
  ///
  /// ```swift
  /// let cleanUp = CleanUp().journaled(as: "clean-up").scheduled(onlyWhen: .connected(to: observer))
  /// ```
  ///
  /// At its time a call is accepted and made if the condition holds, and otherwise as soon as it does: until then it waits
  /// outside of the order of its scope, and holds no other call up. Register the mutation with this modifier: a condition
  /// is not stored. Calls of callers, and a call that was accepted already, do not ask for it; `.waits(until:)` does that.
  ///
  /// - Parameter specification: The condition, evaluated in the context of the client. Of several, all have to hold.
  /// - Returns: The mutation with the condition in its context.
  public func scheduled(
    onlyWhen specification: some OperationRunSpecification & Sendable
  ) -> ContextModifiedOperation<Self> {
    let condition = AnySendableRunSpecification(specification)
    return self.context { $0.scheduleConditions.append(condition) }.written(".scheduled(onlyWhen: …)")
  }
}

extension OperationContext {
  /// The conditions without which no scheduled call of a mutation begins.
  var scheduleConditions: [AnySendableRunSpecification] {
    get { self[ScheduleConditionsKey.self] }
    set { self[ScheduleConditionsKey.self] = newValue }
  }

  private enum ScheduleConditionsKey: Key {
    static let defaultValue: [AnySendableRunSpecification] = []
  }
}

/// What the modifiers of a mutation say about its calls.
struct ScheduledCallSettings: Sendable {
  /// The text of the name of the scope; nil without one.
  let scope: String?
  /// How long after its time a call can be made; nil for any time.
  let lifetime: Duration?
  /// Whether later calls of its scope are made once it is a dead letter.
  let letsPass: Bool
  let conditions: [AnySendableRunSpecification]
}

extension MutationRequest {
  /// What the modifiers say about the calls of the mutation in a context.
  func scheduledCallSettings(in context: OperationContext) -> ScheduledCallSettings {
    var context = context
    self.setup(context: &context)
    return ScheduledCallSettings(
      scope: context.mutationScope.map { StorageKey.text(of: $0) ?? "\($0)" },
      lifetime: context.journalLifetime,
      letsPass: context.deadLetterPolicy == .letPass,
      conditions: context.scheduleConditions
    )
  }
}
