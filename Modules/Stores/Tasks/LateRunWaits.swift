internal import Synchronization

/// The waits of runs of stores that do not share runs. They are noted from when a node of the wait graph has asked for the run.
///
/// A store that shares runs notes the waits of each run from its start: see ``RunWaits``. For others that would cost each run an
/// allocation and a task-local value, although nearly no program has nodes of its own.
enum LateRunWaits {
  private struct Entry: Sendable {
    let waits: RunWaits
    let task: UInt
    /// The place of the task's surroundings, by which its children are known; 0 if it has none, or until that task has asked.
    var place: UInt = 0
  }

  private struct Entries: Sendable {
    var runs: [OperationTaskIdentifier: Entry] = [:]
    /// The waits by the identities of tasks, and by places.
    var tasks: [UInt: RunWaits] = [:]

    /// Notes the place of a run's own task, which is the current one.
    mutating func notePlace(of id: OperationTaskIdentifier) {
      guard var entry = self.runs[id], entry.place == 0 else { return }
      entry.waits.noteWork()
      entry.place = EnclosingRun.place
      self.runs[id] = entry
      if entry.place != 0 { self.tasks[entry.place] = entry.waits }
    }
  }

  private static let count = Atomic(0)
  private static let entries = Mutex(Entries())

  /// Whether there are such runs under way.
  static var exist: Bool { self.count.load(ordering: .sequentiallyConsistent) > 0 }

  /// Notes the waits of a run from now on. Called in its task, or in a child of it.
  static func begin(of run: SharedRun) {
    guard let task = run.withState({ $0.phase == .executing ? $0.task : nil })?.identity else { return }
    let isOwn = task == RunTask.currentIdentity
    self.entries.withLock { entries in
      if entries.runs[run.id] == nil {
        let waits = RunWaits(of: run.id)
        waits.task.store(task, ordering: .relaxed)
        entries.runs[run.id] = Entry(waits: waits, task: task)
        entries.tasks[task] = waits
        self.count.add(1, ordering: .sequentiallyConsistent)
      }
      // Another task may have asked first.
      if isOwn { entries.notePlace(of: run.id) }
    }
    // The work may have ended meanwhile, if another task has asked.
    if !run.isExecuting { self.remove(of: run) }
  }

  /// Ends the notes of a run, which no longer executes.
  static func remove(of run: SharedRun) {
    let removed = self.entries.withLock { entries -> RunWaits? in
      guard let entry = entries.runs.removeValue(forKey: run.id) else { return nil }
      for key in [entry.task, entry.place] where entries.tasks[key] === entry.waits { entries.tasks[key] = nil }
      self.count.subtract(1, ordering: .sequentiallyConsistent)
      return entry.waits
    }
    removed?.task.store(0, ordering: .relaxed)
  }

  static func of(_ run: SharedRun) -> RunWaits? { self.entries.withLock { $0.runs[run.id]?.waits } }

  /// The waits of the run whose work the current task does, its parent, or a task that awaits it in an interceptor.
  ///
  /// - Complexity: O(1) but in a task of an interceptor, where it is O(*n*) in these runs.
  static var ofCurrentTask: RunWaits? {
    guard let task = RunTask.currentIdentity else { return nil }
    let (place, isInInterceptor) = (EnclosingRun.place, CallInTask.isAroundCurrentTask)
    return self.entries.withLock { entries in
      if let waits = entries.tasks[task] ?? (place == 0 ? nil : entries.tasks[place]) { return waits }
      return isInInterceptor ? entries.runs.values.first { $0.waits.isInCurrentTask }?.waits : nil
    }
  }
}
