internal import Synchronization

/// The work of a node of the wait graph, in the task that does it: see ``OperationContext/performing(workOf:_:)``.
final class NodeWork: Sendable {
  private static let count = Atomic(0)
  private static let works = Mutex<[ObjectIdentifier: [NodeWork]]>([:])
  private static let current = TaskLocal<NodeWork?>(wrappedValue: nil)

  private let node: any WaitNode
  private let waits = RunWaits(of: .next())
  /// The run, or the node's work, that this work is a part of.
  private let run: (any WaitingRun)?
  /// Whether the task of this work does the work of `run`, which waits for it.
  private let isPartOfRun: Bool
  /// The work of a node around this one.
  private let outer: NodeWork?

  private init(_ node: any WaitNode) {
    let run = EnclosingRun.run
    (self.node, self.run, self.outer) = (node, run, Self.current.get())
    self.isPartOfRun = run?.isInCurrentTask == true
    self.waits.task.store(RunTask.current.identity, ordering: .relaxed)
  }

  /// Whether any node's work is under way.
  static var exist: Bool { self.count.load(ordering: .sequentiallyConsistent) > 0 }

  /// The works of a node, and those that are a part of them.
  fileprivate static func works(of node: any WaitNode) -> [NodeWork] {
    let works = self.works.withLock { $0 }
    guard let own = works[ObjectIdentifier(node)] else { return [] }
    let parts = works.values.joined().filter { work in work.wholes.contains { whole in own.contains { $0 === whole } } }
    return own + parts.filter { $0.node !== node }
  }

  /// The works of nodes that are a part of the work of a run.
  ///
  /// - Parameters:
  ///   - task: The identity of the task of the run.
  ///   - waits: The waits of the run, if they are noted.
  /// - Returns: The works, in no order.
  static func works(inTask task: UInt, of waits: RunWaits?) -> [NodeWork] {
    self.works.withLock { $0 }.values.joined().filter { work in
      work.taskIdentity == task || work.wholes.contains { $0 === waits || ($0 as? NodeWork)?.taskIdentity == task }
    }
  }

  /// The identity of the task of the work; 0 once it has ended.
  private var taskIdentity: UInt { self.waits.task.load(ordering: .relaxed) }

  /// What the work is a part of, from the inside out: the works of nodes around it, then a run.
  private var wholes: some Sequence<any WaitingRun> {
    sequence(state: self as NodeWork?) { part -> (any WaitingRun)? in
      guard let run = part.flatMap({ $0.isPartOfRun ? $0.run : nil }) else { return nil }
      part = run as? NodeWork
      return run
    }
  }

  fileprivate nonisolated(nonsending) static func perform<R, E: Error>(
    _ node: any WaitNode,
    _ work: nonisolated(nonsending) () async throws(E) -> R
  ) async -> Result<R, E> {
    let own = NodeWork(node)
    own.begin()
    let result = await self.current.withValue(own) {
      await EnclosingRun.perform(own, in: nil) { () async -> Result<R, E> in
        own.waits.noteWork()
        do throws(E) { return .success(try await work()) } catch { return .failure(error) }
      }
    }
    own.end()
    return result
  }

  private func begin() {
    Self.works.withLock { $0[ObjectIdentifier(self.node), default: []].append(self) }
    Self.count.add(1, ordering: .sequentiallyConsistent)
    WaitGraph.noteEdge()
  }

  private func end() {
    self.waits.task.store(0, ordering: .relaxed)
    Self.count.subtract(1, ordering: .sequentiallyConsistent)
    Self.works.withLock { works in
      let id = ObjectIdentifier(self.node)
      works[id]?.removeAll { $0 === self }
      if works[id]?.isEmpty == true { works[id] = nil }
    }
  }
}

extension NodeWork: WaitingRun {
  var isInCurrentTask: Bool { self.waits.isInCurrentTask }

  func note(called node: (any WaitNode)?) {
    self.waits.note(called: node)
    if let run = self.run, run.isInCurrentTask { run.note(called: node) }
  }

  func relay(_ progress: RunProgress, of id: OperationTaskIdentifier) { self.run?.relay(progress, of: id) }
}

extension WaitNode {
  /// The waits of the node and of its work.
  var allWaits: [WaitEdge] {
    let waits = WaitEdge.resolved(self.waits)
    guard NodeWork.exist else { return waits }
    return waits + NodeWork.works(of: self).flatMap { $0.edges }
  }

  /// Whether the current task does what the waiters of the node wait for.
  var isEndedHere: Bool {
    self.isEndedByCurrentTask || (NodeWork.exist && NodeWork.works(of: self).contains { $0.isInCurrentTask })
  }
}

// MARK: - Lending

extension NodeWork {
  /// What the work waits for, also in its child tasks.
  var edges: [WaitEdge] { self.waits.edges }

  /// What the nodes around a run have been asked to lend while it waits.
  struct Loan: Sendable {
    fileprivate let works: [NodeWork]
    fileprivate let wait: StoreWait

    /// Lets the run go on when the nodes do. The work may have ended before: a task that it has made can outlive it.
    nonisolated(nonsending) func end() async {
      for work in self.works.reversed() where work.taskIdentity != 0 {
        await work.node.workGoesOn(after: self.wait)
      }
    }
  }

  /// Asks the nodes whose work the current task is a part of to lend what they hold; nil without any.
  static func lend(
    for subject: @escaping @Sendable () -> String,
    isPause: Bool,
    in context: OperationContext
  ) -> Loan? {
    guard self.exist else { return nil }
    let works = Array(
      sequence(state: self.current.get()) { work -> NodeWork? in
        defer { work = work?.outer }
        return work
      }
    ).filter { $0.taskIdentity != 0 }
    if works.isEmpty { return nil }
    let id = OperationWait.nextNumber()
    let wait = StoreWait(id: id, subject: subject, isPause: isPause, path: nil, start: context.elapsed)
    for work in works { work.node.workWillWait(for: wait) }
    return Loan(works: works, wait: wait)
  }
}

extension OperationContext {
  /// Performs the work of a node, such as a batch: what the work waits for, the node waits for.
  ///
  /// Call it in the task that does the work. The nodes around a run learn of its waits: see ``WaitNode/workWillWait(for:)``.
  ///
  /// - Parameters:
  ///   - node: The node, which is kept alive meanwhile.
  ///   - work: The work, in the isolation of the caller.
  /// - Returns: The result of the work.
  /// - Throws: The error of the work.
  public nonisolated(nonsending) func performing<R, E: Error>(
    workOf node: some WaitNode,
    _ work: nonisolated(nonsending) () async throws(E) -> R
  ) async throws(E) -> R {
    try await NodeWork.perform(node, work).get()
  }
}
