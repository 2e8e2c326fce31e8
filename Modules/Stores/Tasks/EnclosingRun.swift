/// A run whose work can wait for other runs.
package protocol WaitingRun: AnyObject, Sendable {
  /// Whether the current task does the work of the run.
  var isInCurrentTask: Bool { get }
  /// Notes that the current task, which does the work, waits for `node`; nil once it no longer waits for one that goes on.
  func note(called node: (any WaitNode)?)
  /// Passes progress on to the other callers of this run. Does nothing if the identifier names another run.
  func relay(_ progress: RunProgress, of id: OperationTaskIdentifier)
}

/// Where the current client of a task comes from.
package enum CurrentClientSource: Sendable {
  /// A replacement, which the module of clients makes.
  case scope(any AnyObject & Sendable)
  /// The store whose run the task works for.
  case store(ClientReference)
}

/// The run whose work the current task is part of, and the current client in it.
package enum EnclosingRun {
  /// What a task and its children have around them.
  ///
  /// Both are one value, so that what was set last counts. A client that code has replaced is current until a store runs
  /// inside of that code. In the run of a store, the client of the store is current.
  package struct Surroundings: Sendable {
    var run: (any WaitingRun)?
    package var client: CurrentClientSource?

    package init(run: (any WaitingRun)? = nil, client: CurrentClientSource? = nil) {
      self.run = run
      self.client = client
    }
  }

  package static let local = TaskLocal(wrappedValue: Surroundings())

  // Most tasks have no surroundings, which is cheaper to see at this address than by reading them.
  /// The address of the current task's surroundings. Child tasks of `async let` and of task groups have no surroundings of
  /// their own: they use those of the parent, at the same address. A `Task { }` copies them to another address. A task
  /// without surroundings has 0.
  static var place: UInt {
    UInt(bitPattern: placeOfValue(UnsafeRawPointer(Unmanaged.passUnretained(self.local).toOpaque())))
  }

  /// The innermost run.
  package static var run: (any WaitingRun)? { self.local.get().run }

  /// Performs `work` as the work of `run`, in the task of the run: one that copies values takes an allocation for them.
  ///
  /// - Parameters:
  ///   - run: The run; nil if it cannot be waited for, so that its work belongs to the run around it.
  ///   - context: The context of the run, whose client is current in it; nil for a run that several clients may share.
  ///   - work: The work.
  /// - Returns: The result of `work`.
  // Inlined: a frame of its own would take memory in each task of a run.
  @inline(__always)
  package nonisolated(nonsending) static func perform<R>(
    _ run: (any WaitingRun)?,
    in context: OperationContext?,
    _ work: nonisolated(nonsending) () async -> R
  ) async -> R {
    var surroundings = self.place == 0 ? Surroundings() : self.local.get()
    if let run { surroundings.run = run }
    if let client = context?.clientReference { surroundings.client = .store(client) }
    return await self.local.withValue(surroundings) { await work() }
  }

  /// Notes that the work of the enclosing run waits for `node`, if the current task does that work.
  ///
  /// Other tasks that the work has made are ignored, as the work does not have to wait for them.
  package static func note(awaited node: any WaitNode) {
    if let run = self.run, run.isInCurrentTask {
      run.note(called: node)
      WaitGraph.noteEdge()
    }
    if LateRunWaits.exist { LateRunWaits.ofCurrentTask?.note(called: node) }
  }

  /// Notes that a wait of the current task has ended before the node has, or does not begin.
  ///
  /// A wait that lasts until a run or a batch has ended needs no such note: what has ended waits for nothing.
  package static func noteWaitEnded() {
    if let run = self.run, run.isInCurrentTask { run.note(called: nil) }
    if LateRunWaits.exist { LateRunWaits.ofCurrentTask?.note(called: nil) }
  }

  /// Whether a wait of the current task has to be noted with ``note(awaited:)``.
  package static var notesWaits: Bool { self.exists || LateRunWaits.exist }

  /// Whether the current task does the work of the enclosing run, whose callers wait for it.
  package static var isInCurrentTask: Bool { self.run?.isInCurrentTask ?? false }

  /// Whether the current task is part of the work of a run.
  package static var exists: Bool { self.place != 0 && self.run != nil }
}

// What `TaskLocal.get()` calls. The standard library does not make it public.
@_silgen_name("swift_task_localValueGet")
private func placeOfValue(_ key: UnsafeRawPointer) -> UnsafeRawPointer?

extension OperationContext {
  /// Notes that the run with this context waits in the queue `node`, until ``noteWaitEnded()``.
  package func note(awaited node: any WaitNode) {
    self.run.waits?.note(queue: node)
    EnclosingRun.note(awaited: node)
    WaitGraph.noteEdge()
  }

  /// Notes that the run with this context no longer waits in a queue.
  package func noteWaitEnded() {
    self.run.waits?.note(queue: nil)
    EnclosingRun.noteWaitEnded()
  }
}
