extension StoreRuntime {
  /// Whether a controller may rerun the operation.
  ///
  /// False when the operation needs a direct call to run, when its client has removed the store or has stopped automatic
  /// runs, or when a specification for automatic running is set and not satisfied.
  var canYieldRerun: Bool {
    if self.isOver { return false }
    let context = self.context
    guard self.operation.allowsAutomaticRuns, !context.automaticRunsAreStopped else { return false }
    return !context.isAutomaticRunningConfigured || context.automaticRunningSpecification.isSatisfied(in: context)
  }

  /// Changes the state on behalf of a controller.
  ///
  /// `epoch` is what the new value has seen, and `stamp` what it is, if it did not come into being now.
  func edit(
    isSuccess: Bool,
    as write: StoreEvent.StateWrite = .edited,
    seen epoch: InvalidationEpoch? = nil,
    _ stamp: ValueStamp? = nil,
    by cause: @autoclosure () -> OperationRunCause,
    using context: OperationContext?,
    _ edit: @escaping @Sendable (inout any StoredState, OperationContext) -> Void
  ) {
    let context = self.eventContext(context)
    self.change(context, event: .stateWritten(write), by: cause()) { machine, released in
      // A restored value is below the one that a run has yielded.
      let isBelow = write == .restored && machine.state.typed.valueUpdateCount > 0
      if let epoch { machine.noteEpoch(isBelow ? min(epoch, machine.valueEpoch) : epoch) }
      let change = machine.edit(isSuccess: isSuccess, using: context, &released) { state in
        let count = state.typed.valueUpdateCount
        edit(&state, context)
        // For states that do not keep a stamp themselves.
        if isSuccess { state.restamp(context.event.stamp) }
        if let stamp, state.typed.valueUpdateCount != count { state.restamp(stamp) }
      }
      if write == .restored, !isBelow {
        machine.noteValueOrigin({ "It was restored from a storage." }, &released)
      }
      return change
    }
  }

  /// Changes parts of the state other than its value and its error on behalf of a controller.
  func editState(_ edit: @escaping @Sendable (inout any StoredState) -> Void) {
    let context = self.eventContext(nil)
    self.change(context, replacesValue: false) { machine, released in
      machine.edit(isSuccess: false, using: context, &released, edit)
    }
  }
}
