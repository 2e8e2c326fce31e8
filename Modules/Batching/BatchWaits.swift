public import OperationCore
internal import Synchronization

// A run that loads a key waits for its batch. A batch that was sent waits for what its request waits for; one that was not
// waits until one of the batches under way ends, if there are as many as may be. A wait that closes a cycle ends at once.
//
// A request that loads its own key makes no cycle of these: each load opens another batch, for ever. So a key that two of the
// batches have around the current request counts as a cycle. One of them may have it, as a batch of several keys may load
// one of them for another.

/// What the request of a batch waits for.
final class BatchWaits: Sendable {
  /// The identity of the request's task; 0 before and after.
  private let task = Atomic<UInt>(0)
  /// The run or batch that the request waits for. One that has ended may stay here.
  private let called = Mutex<WeakNode?>(nil)

  /// The edge to what the request waits for; nil if it waits for nothing.
  var edge: WaitEdge? { self.called.withLock { $0 }?.node.map { WaitEdge(awaited: $0) } }

  var isInCurrentTask: Bool { self.task.load(ordering: .relaxed) == RunTask.current.identity }

  /// Notes that the current task is the request's.
  func begin() { self.task.store(RunTask.current.identity, ordering: .relaxed) }

  func note(called node: (any WaitNode)?) { self.replaceCalled(with: node.map(WeakNode.init)) }

  /// Notes that the request has ended.
  func end() {
    self.task.store(0, ordering: .relaxed)
    self.replaceCalled(with: nil)
  }

  private func replaceCalled(with node: WeakNode?) {
    let replaced = self.called.withLock { called in
      defer { called = node }
      return called
    }
    _ = consume replaced  // Released after unlocking.
  }
}

extension Batch: WaitingRun {
  package var isInCurrentTask: Bool { self.waitsOfRequest.isInCurrentTask }

  package func note(called node: (any WaitNode)?) { self.waitsOfRequest.note(called: node) }

  // A batch is no run of a store.
  package func relay(_ progress: RunProgress, of id: OperationTaskIdentifier) {}
}

extension Batch: WaitNode {
  @usableFromInline var waits: [WaitEdge] {
    if let edge = self.waitsOfRequest.edge { return [edge] }
    return self.queue.batchesBefore(self).map { WaitEdge($0, isCall: false) }
  }

  @usableFromInline var isQueue: Bool { false }
  @usableFromInline var continuesAfterAnyWait: Bool { true }
  @usableFromInline var isEndedByCurrentTask: Bool { self.isInCurrentTask }
  @usableFromInline var waitName: String? { self.queue.title }
}

extension BatchQueue {
  /// Begins the wait of the run that loads a key; nil without an observer.
  @usableFromInline var toldWait: ToldWait? { ToldWait.begin(for: self.title) }

  /// Removes a caller from its batch if the caller's wait for the batch closes a cycle, which is reported.
  ///
  /// Each wait, of a caller or of a request, is noted before the search for a cycle. If two tasks close a cycle at the same
  /// time, at least one of them thus finds it.
  ///
  /// - Returns: The error to resume the caller with; nil if the caller continues to wait.
  @usableFromInline
  func leaveIfClosingCycle(_ member: BatchMember) -> OperationCycleError? {
    guard EnclosingRun.exists, let batch = self.batch(of: member),
      let names = WaitGraph.noteAndFindCycle(awaiting: batch) ?? self.namesOfRepetition(of: member),
      self.leave(member)
    else { return nil }
    let cycle = OperationCycleError(operationNames: names)
    cycle.report()
    return cycle
  }

  /// Notes that a caller has left its batch, which may go on for others.
  @usableFromInline
  func noteWaitEnded() { if EnclosingRun.notesWaits { EnclosingRun.noteWaitEnded() } }

  /// The batch whose request the current task is part of.
  @TaskLocal static var enclosing: Batch?

  /// The batches from one with the same key to this one, if two of the batches around the current request have the key.
  private func namesOfRepetition(of member: BatchMember) -> [String]? {
    var (names, known, next) = ([self.title], 0, Self.enclosing)
    // A longer way back would be searched with each key of a long chain of requests.
    while let batch = next, names.count <= 32 {
      names.append(batch.queue.title)
      if batch.queue === self, self.open.withLock({ _ in batch.hasKey(of: member) }) { known += 1 }
      if known == 2 { return names.reversed() }
      next = batch.enclosing
    }
    return nil
  }

  /// Performs a request as the work of its batch.
  @usableFromInline
  func perform<R>(_ batch: Batch, _ request: nonisolated(nonsending) () async -> R) async -> R {
    batch.waitsOfRequest.begin()
    let result = await Self.$enclosing.withValue(batch) { await EnclosingRun.perform(batch, in: nil, request) }
    batch.waitsOfRequest.end()
    return result
  }
}
