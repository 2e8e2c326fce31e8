extension StoreMachine {
  /// A run between its start and its finish.
  struct Run: Sendable {
    /// What a run is. It begins as `begun`, and each method below is a transition.
    enum Phase: Sendable {
      /// It is in the state, and its work has not begun.
      case begun
      /// Its work has begun.
      case working
      /// A condition of the operation became true only after it began: if it fails, it may be repeated.
      case premature(isWorking: Bool)
      /// It was cancelled or the state was reset: its results do not affect the state any more, and its work may go on.
      case rolledBack
      /// It was cancelled before its work began. Subscribers are not notified of its end.
      case skipped(isRolledBack: Bool)
    }

    /// The task of the run. Its context contains the attempt that the run is in.
    var task: ErasedTask
    /// The number of the store's last invalidation when the run began. The run does not answer later invalidations.
    let invalidations: Int
    /// The last invalidation of any store when the run began.
    let epoch = InvalidationEpoch.latest
    private(set) var phase = Phase.begun
    /// The last value that the run has committed, for callers that join it; nil if it has committed none.
    var lastCommit: UndoLog.Change?

    var id: OperationTaskIdentifier { self.task.sharedRun.id }

    init(task: ErasedTask, invalidations: Int) {
      self.task = task
      self.invalidations = invalidations
    }

    /// Whether its results affect the state.
    var isShown: Bool {
      switch self.phase {
      case .begun, .working, .premature, .skipped(isRolledBack: false): true
      case .rolledBack, .skipped(isRolledBack: true): false
      }
    }

    /// Whether its work has begun. A handler that joins the run later is notified of the start when it joins.
    var isWorking: Bool {
      switch self.phase {
      case .working, .premature(isWorking: true): true
      default: false
      }
    }

    var isPremature: Bool { if case .premature = self.phase { true } else { false } }

    var isSkipped: Bool { if case .skipped = self.phase { true } else { false } }

    mutating func beginWork() {
      switch self.phase {
      case .begun: self.phase = .working
      case .premature: self.phase = .premature(isWorking: true)
      case .working, .rolledBack, .skipped: break
      }
    }

    mutating func noteCondition() {
      switch self.phase {
      case .begun: self.phase = .premature(isWorking: false)
      case .working: self.phase = .premature(isWorking: true)
      case .premature, .rolledBack, .skipped: break
      }
    }

    mutating func rollBack() {
      self.phase = self.isSkipped ? .skipped(isRolledBack: true) : .rolledBack
    }

    mutating func skip() { self.phase = .skipped(isRolledBack: !self.isShown) }
  }
}

extension StoreMachine {
  /// Adds a run to the state.
  ///
  /// - Parameters:
  ///   - task: The task of the run, which the state may edit.
  ///   - released: Receives the reserved task of the run, if any.
  /// - Returns: The notifications that are due.
  mutating func start(_ task: inout ErasedTask, _ released: inout ReleasedValues) -> StoreChange {
    let sharedRun = task.sharedRun
    self.state.schedule(&task)
    // The state may edit the task but not replace it with another.
    if task.sharedRun !== sharedRun { task = ErasedTask(sharedRun: sharedRun, context: task.context) }
    if self.hasUndoLog { self.recordStart(of: task) }
    if !self.reservedTasks.isEmpty { released.task = self.removeReservation(of: task.id) }
    self.runs.append(Run(task: task, invalidations: self.invalidations))
    return StoreChange(isStateNew: true)
  }

  mutating func recordStart(of task: ErasedTask) {
    self.undoLog?.editBase { base in
      var copy = task
      base.schedule(&copy)
    }
  }

  /// Removes and returns the reserved task of a run, if there is one. The caller releases it after the lock.
  mutating func removeReservation(of id: OperationTaskIdentifier) -> ErasedTask? {
    for index in self.reservedTasks.indices where self.reservedTasks[index].id == id {
      return self.reservedTasks.remove(at: index)
    }
    return nil
  }

  /// Sets the outcome of a run that has ended, and removes the run. A cancelled run is rolled back instead.
  ///
  /// - Parameters:
  ///   - task: The task of the run.
  ///   - outcome: The outcome of the operation.
  ///   - isCancelled: Whether the run was cancelled.
  ///   - hidesOutdatedRuns: Whether to roll back runs that began before an invalidation that this run answers.
  ///   - renewedCount: If the run has only renewed the value: the number of updates of that value. Nil for a new value.
  ///   - released: Receives what is to be released after the lock.
  /// - Returns: The notifications that are due.
  mutating func finish(
    _ task: ErasedTask,
    with outcome: RunOutcome,
    isCancelled: Bool,
    hidesOutdatedRuns: Bool,
    renewedCount: Int? = nil,
    _ released: inout ReleasedValues
  ) -> StoreChange {
    let id = task.id
    var isStateNew = false
    if isCancelled {
      isStateNew = self.index(ofRun: id).map { self.runs[$0].isShown } ?? false
      _ = self.rollBack(id, &released)
    }
    guard let index = self.index(ofRun: id) else { return StoreChange() }
    let (isShown, isSkipped) = (self.runs[index].isShown, self.runs[index].isSkipped)
    let (invalidations, epoch) = (self.runs[index].invalidations, self.runs[index].epoch)
    if let lastCommit = self.runs[index].lastCommit { released.append(lastCommit) }
    released.task = (index == self.runs.count - 1 ? self.runs.removeLast() : self.runs.remove(at: index)).task
    if !self.subscriberRuns.isEmpty { self.subscriberRuns.removeAll { $0.id == id } }
    self.finishingRuns.append(task.sharedRun)
    guard isShown else { return StoreChange(isStateNew: isStateNew, lifecycle: isSkipped ? nil : .ended) }
    if renewedCount.map({ self.renewValue(withCount: $0, outcome, of: task) }) != true {
      self.state.report(outcome, of: task)
    }
    if self.hasUndoLog { self.recordOutcome(of: task, with: outcome, &released) }
    self.removeTask(task, &released)
    var change = StoreChange(isStateNew: true, bringsResult: true, lifecycle: .ended)
    self.settle(&change, outcome, of: task, from: invalidations, epoch, hidesOutdatedRuns: hidesOutdatedRuns, &released)
    return change
  }

  /// Dates the value anew in place of setting it again. Returns false if that was not possible.
  mutating func renewValue(withCount count: Int, _ outcome: RunOutcome, of task: ErasedTask) -> Bool {
    // An undo log would set the outcome again, because it cannot repeat a renewal.
    guard outcome.isSuccess, !self.hasUndoLog else { return false }
    return self.state.renewValue(withCount: count, of: task)
  }

  mutating func recordOutcome(of task: ErasedTask, with outcome: RunOutcome, _ released: inout ReleasedValues) {
    released.append(undoLogOf: self)
    // No other change can be rolled back, so the log is no longer needed.
    if self.undoLog?.hasOwners(besides: task.id) == false {
      self.undoLog = nil
      return
    }
    self.undoLog?.append(.reported(outcome, task), by: nil)
    self.undoLog?.commit(task.id)
  }

  mutating func removeTask(_ task: ErasedTask, _ released: inout ReleasedValues) {
    self.state.finish(task)
    if self.hasUndoLog { self.recordEnd(of: task, &released) }
  }

  mutating func recordEnd(of task: ErasedTask, _ released: inout ReleasedValues) {
    released.append(undoLogOf: self)
    self.undoLog?.editBase { $0.finish(task) }
    if self.undoLog?.hasOwners == false { self.undoLog = nil }
  }

  /// Removes a run from the finishing runs, after all notifications of its end.
  mutating func forgetFinishing(of id: OperationTaskIdentifier) {
    if self.finishingRuns.count == 1, self.finishingRuns[0].id == id {
      self.finishingRuns.removeLast()
    } else {
      self.finishingRuns.removeAll { $0.id == id }
    }
  }

  /// Resets the state, and returns the tasks for the caller to cancel after the lock.
  mutating func reset(
    using context: OperationContext,
    _ released: inout ReleasedValues
  ) -> (change: StoreChange, tasks: [ErasedTask]) {
    let tasks = self.state.resetTasks(using: context)
    if self.hasUndoLog {
      released.append(undoLogOf: self)
      self.undoLog = nil
    }
    self.answerInvalidations()
    self.noteEpoch(.latest)
    self.uniqueExtras().content.resets += 1
    for index in self.runs.indices { self.runs[index].rollBack() }
    let running = self.runs.map { $0.task }
    let others = tasks.filter { task in !running.contains { $0.id == task.id } }
    return (StoreChange(isStateNew: true), running + others)
  }
}

// MARK: - Finding a run

extension StoreMachine {
  /// The index of a run that is not the newest. O(log *n*) if runs began in the order of their identifiers.
  func index(ofEarlierRun id: OperationTaskIdentifier) -> Int? {
    // Tasks get their identifiers when they are created, and nearly always begin in that order. If they did not, the
    // linear search below finds the run.
    var (low, high) = (0, self.runs.count)
    while low < high {
      let middle = (low + high) / 2
      if self.runs[middle].id < id { low = middle + 1 } else { high = middle }
    }
    if low < self.runs.count, self.runs[low].id == id { return low }
    return self.runs.lastIndex { $0.id == id }
  }
}

// MARK: - Results

extension StoreMachine {
  /// Sets a value or an error from outside any run.
  mutating func set(
    _ result: RunOutcome,
    using context: OperationContext,
    _ released: inout ReleasedValues
  ) -> StoreChange {
    self.state.set(result, using: context)
    self.record(.set(result, context), by: nil, &released)
    if result.isSuccess {
      self.answerInvalidations()
      self.noteEpoch(.latest)
    }
    return StoreChange(isStateNew: true)
  }

  /// Sets a value or an error on behalf of a controller.
  mutating func edit(
    isSuccess: Bool,
    using context: OperationContext,
    _ released: inout ReleasedValues,
    _ edit: @escaping @Sendable (inout any StoredState) -> Void
  ) -> StoreChange {
    edit(&self.state)
    self.record(.edited(isSuccess: isSuccess, edit), by: nil, &released)
    if isSuccess {
      self.answerInvalidations()
      self.noteEpoch(.latest)
    }
    return StoreChange(isStateNew: true)
  }

  /// Sets a result that a run has yielded, unless the run was cancelled.
  ///
  /// - Parameters:
  ///   - result: The yielded value or error.
  ///   - task: The task of the run, with the context of the yield.
  ///   - isRecorded: Whether the change is recorded to be undone, because the state does not undo it itself.
  ///   - released: Receives the objects to release after the lock.
  /// - Returns: The notifications that are due; none if the run was cancelled.
  mutating func yield(
    _ result: RunOutcome,
    of task: ErasedTask,
    isRecorded: Bool,
    _ released: inout ReleasedValues
  ) -> StoreChange {
    guard let index = self.index(ofRun: task.id), self.runs[index].isShown else { return StoreChange() }
    if isRecorded, !self.hasUndoLog { self.undoLog = UndoLog(base: self.state) }
    self.state.report(result, of: task)
    let change = UndoLog.Change.reported(result, task)
    if self.undoLog?.replaceLast(with: change, by: task.id, replaced: &released.undoneChange) == false {
      self.append(change, by: task.id, &released)
    }
    var notifications = StoreChange(isStateNew: true, bringsResult: true)
    notifications.isWholeResult = result.isSuccess && self.state.isReplaced(by: task)
    if result.isSuccess {
      self.noteEpoch(self.runs[index].epoch, of: task.id, isWhole: notifications.isWholeResult)
    }
    return notifications
  }

  /// Sets a value that a run has committed, unless the run was cancelled. Nothing takes back what the run has yielded so
  /// far.
  ///
  /// - Parameters:
  ///   - result: The value.
  ///   - task: The task of the run, with the context of the yield.
  ///   - hidesOutdatedRuns: Whether to roll back runs that began before an invalidation that this run answers.
  ///   - released: Receives the objects to release after the lock.
  /// - Returns: The notifications that are due; none if the run was cancelled.
  mutating func commitYield(
    _ result: RunOutcome,
    of task: ErasedTask,
    hidesOutdatedRuns: Bool,
    _ released: inout ReleasedValues
  ) -> StoreChange {
    guard let index = self.index(ofRun: task.id), self.runs[index].isShown else { return StoreChange() }
    let (invalidations, epoch) = (self.runs[index].invalidations, self.runs[index].epoch)
    released.undoneChange = self.runs[index].lastCommit
    self.runs[index].lastCommit = .reported(result, task)
    self.state.report(result, of: task)
    if self.hasUndoLog { self.recordOutcome(of: task, with: result, &released) }
    var change = StoreChange(isStateNew: true, bringsResult: true)
    self.settle(&change, result, of: task, from: invalidations, epoch, hidesOutdatedRuns: hidesOutdatedRuns, &released)
    return change
  }

  /// Notes what a value that stays has seen, and answers the invalidations from before its run.
  ///
  /// - Parameters:
  ///   - change: The change that has set the value.
  ///   - outcome: The value, or an error, which answers nothing.
  ///   - task: The task of the run.
  ///   - invalidations: The number of the store's last invalidation when the run began.
  ///   - epoch: The last invalidation of any store then.
  ///   - hidesOutdatedRuns: Whether to roll back runs that began before an invalidation that this run answers.
  ///   - released: Receives the objects to release after the lock.
  mutating func settle(
    _ change: inout StoreChange,
    _ outcome: RunOutcome,
    of task: ErasedTask,
    from invalidations: Int,
    _ epoch: InvalidationEpoch,
    hidesOutdatedRuns: Bool,
    _ released: inout ReleasedValues
  ) {
    guard outcome.isSuccess else { return }
    let isWhole = self.state.isReplaced(by: task)
    self.noteEpoch(epoch, isWhole: isWhole)
    if hidesOutdatedRuns { change.isLate = self.noteLateValue(from: invalidations) }
    guard isWhole else { return }
    change.isWholeResult = true
    self.answerInvalidations(upTo: invalidations, &released)
    if hidesOutdatedRuns { self.rollBackOutdatedRuns(&released) }
  }

  /// Appends a change to the undo log, if there is one.
  ///
  /// - Parameters:
  ///   - change: The change; evaluated only if there is an undo log.
  ///   - owner: The run that made the change; nil when the change cannot be rolled back.
  ///   - released: Receives the objects to release after the lock.
  mutating func record(
    _ change: @autoclosure () -> UndoLog.Change,
    by owner: OperationTaskIdentifier?,
    _ released: inout ReleasedValues
  ) {
    if self.hasUndoLog { self.append(change(), by: owner, &released) }
  }

  mutating func append(
    _ change: UndoLog.Change,
    by owner: OperationTaskIdentifier?,
    _ released: inout ReleasedValues
  ) {
    // The new change may replace earlier ones.
    if self.undoLog?.entries.isEmpty == false { released.append(undoLogOf: self) }
    self.undoLog?.append(change, by: owner)
  }
}

// MARK: - Rolling back

extension StoreMachine {
  /// Undoes all changes of a run and removes the run from the state.
  mutating func rollBack(_ id: OperationTaskIdentifier, _ released: inout ReleasedValues) -> StoreChange {
    guard let index = self.index(ofRun: id), self.runs[index].isShown else { return StoreChange() }
    self.runs[index].rollBack()
    let task = self.runs[index].task
    if self.hasUndoLog { self.rollBackChanges(of: id, &released) }
    self.removeTask(task, &released)
    return StoreChange(isStateNew: true)
  }

  mutating func rollBackChanges(of id: OperationTaskIdentifier, _ released: inout ReleasedValues) {
    released.append(undoLogOf: self)
    guard let state = self.undoLog?.rollBack(id) else { return }
    self.state = state
    if let epoch = self.undoLog?.epoch { self.valueEpoch = epoch }
    self.uniqueExtras().content.uncountedChanges += 1
  }
}
