internal import Synchronization

/// The waits of runs that their stores do not note: those of stores without shared runs, from when a node of the wait graph has
/// asked for them.
///
/// A store that shares runs notes the waits of each run from its start: see ``RunWaits``. For others that would cost each run an
/// allocation and a task-local value, although nearly no program has nodes of its own.
enum LateRunWaits {
  private static let count = Atomic(0)
  private static let entries = Mutex<[OperationTaskIdentifier: RunWaits]>([:])

  /// Whether there are such runs under way.
  static var exist: Bool { self.count.load(ordering: .sequentiallyConsistent) > 0 }

  /// Notes the waits of a run from now on. Called in its task, or in a child of it.
  static func begin(of run: SharedRun) {
    guard let task = run.withState({ $0.phase == .executing ? $0.task : nil }) else { return }
    let isNew = self.entries.withLock { entries in
      if entries[run.id] != nil { return false }
      let waits = RunWaits(of: run.id)
      waits.task.store(task.identity, ordering: .relaxed)
      // The place of the surroundings, by which children are known, can be read in the task alone.
      if task.identity == RunTask.currentIdentity { waits.noteWork() }
      entries[run.id] = waits
      return true
    }
    guard isNew else { return }
    self.count.add(1, ordering: .sequentiallyConsistent)
    // The work may have ended meanwhile, if another task has asked.
    if !run.isExecuting { self.remove(of: run) }
  }

  /// Ends the notes of a run.
  static func remove(of run: SharedRun) {
    guard let waits = self.entries.withLock({ $0.removeValue(forKey: run.id) }) else { return }
    waits.task.store(0, ordering: .relaxed)
    self.count.subtract(1, ordering: .sequentiallyConsistent)
  }

  static func of(_ run: SharedRun) -> RunWaits? { self.entries.withLock { $0[run.id] } }

  /// The waits of the run whose work the current task, or the parent of it, does.
  static var ofCurrentTask: RunWaits? {
    guard RunTask.currentIdentity != nil else { return nil }
    return self.entries.withLock { $0.values.first(where: \.isInCurrentTask) }
  }
}
