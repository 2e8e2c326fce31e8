extension StoreMachine {
  /// The objects that a change removes from a machine. They are released after unlocking, because deinitializers may be
  /// user code.
  ///
  /// Objects that nearly every change removes have places of their own, on the stack. As elements of the array, they
  /// would take allocations in each run.
  struct ReleasedValues: ~Copyable {
    /// The values and the errors before the change.
    var replaced: ReplacedValues?
    /// The task of a run: the run has ended, was reserved, or has another task now.
    var task: ErasedTask?
    /// The change in the undo log that a later change has replaced.
    var undoneChange: UndoLog.Change?
    private var others: [any Sendable] = []

    init() {}

    mutating func append(_ value: some Sendable) {
      self.others.append(value)
    }

    /// Keeps a copy of the undo log, so that no entry is destroyed under the lock.
    mutating func append(undoLogOf machine: borrowing StoreMachine) {
      if let undoLog = machine.undoLog { self.append(undoLog) }
    }
  }

  /// The values and the errors of the state and of the shown state.
  struct ReplacedValues: Sendable {
    private let values: RetainedValues
    private let shownValues: RetainedValues?

    init(of machine: borrowing StoreMachine) {
      self.values = machine.state.retainedValues
      self.shownValues = machine.layeredState?.retainedValues
    }
  }

  /// Keeps replaced values until exclusive access ends. At most four are kept: with more, returns the oldest.
  mutating func deferRelease(of replaced: ReplacedValues) -> ReplacedValues? {
    let extras = self.uniqueExtras()
    extras.content.deferredReleases.append(replaced)
    return extras.content.deferredReleases.count > 4 ? extras.content.deferredReleases.removeFirst() : nil
  }

  /// Removes and returns the values to release when exclusive access ends.
  mutating func takeDeferredReleases() -> [ReplacedValues] {
    // Without a second reference to the extras, by which they would be copied.
    if self.extras?.content.deferredReleases.isEmpty ?? true { return [] }
    let extras = self.uniqueExtras()
    defer { extras.content.deferredReleases = [] }
    return extras.content.deferredReleases
  }
}

extension StoreRuntime {
  /// Runs `body` on the machine with the lock held. Objects that `body` moves to its second parameter are released
  /// after unlocking.
  ///
  /// The values that this thread replaces during its exclusive access are kept until the access ends; at most the last
  /// four.
  @inline(__always)
  func withMachine<R>(_ body: (inout StoreMachine, inout StoreMachine.ReleasedValues) -> R) -> R {
    var released = StoreMachine.ReleasedValues()
    let result = self.withMachine { body(&$0, &released) }
    if self.lock.isOwnedByCurrentThread, let replaced = released.replaced {
      released.replaced = self.withMachine { $0.deferRelease(of: replaced) }
    }
    return result
  }
}
