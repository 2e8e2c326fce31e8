package import OperationCore

/// The optimistic updates of a call that is under way, for a module that changes what the call does.
package struct CallUpdates: Sendable {
  let effects: MutationEffects

  /// Shows the updates for other arguments in place of those that are shown.
  ///
  /// - Parameter arguments: The arguments, of the type of the mutation's.
  package func show(with arguments: any Sendable) {
    self.effects.replaceUpdates(with: arguments)
  }

  /// Removes the updates, because the call is not made. Later attempts show none.
  package func end() {
    self.effects.endUpdates()
  }
}

extension OperationContext {
  /// The optimistic updates of the call with this context; nil if no modifier around it makes any.
  package var callUpdates: CallUpdates? {
    guard let effects = self.mutationEffects?.effects, effects.run == self.operationRunningTaskIdentifier
    else { return nil }
    return CallUpdates(effects: effects)
  }
}
