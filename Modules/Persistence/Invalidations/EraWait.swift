internal import OperationCore
internal import Synchronization

/// Lets the runs of a store begin when the era of its storage is known: see ``StorageEra``.
///
/// Otherwise another process could remove all values after a run has begun, and before this process reads the storage for
/// the first time. The run may be of the former user, and its value would be stored in the era of the next one.
final class EraWait: Sendable {
  private let isOver = Atomic(false)

  /// Waits until the era is known, at most for as long as a store waits for its value.
  ///
  /// - Parameters:
  ///   - storage: The storage; nil for the one of the context.
  ///   - context: The context of a run.
  /// - Returns: The writer of the storage if it does not know the era yet.
  nonisolated(nonsending) func unknowingWriter(
    of storage: (any PersistentStorage)?,
    _ context: OperationContext
  ) async -> StateWriter? {
    guard !self.isOver.load(ordering: .relaxed), let storage = storage ?? context.operationStorage else { return nil }
    let writer = StateWriters.writer(for: storage)
    guard await writer.learnEra(in: context) else { return writer }
    self.isOver.store(true, ordering: .relaxed)
    return nil
  }
}

extension OperationContext {
  /// What the runs of a store wait for that has its value in a storage of several processes.
  var eraWait: EraWait? {
    get { self[EraWaitKey.self] }
    set { self[EraWaitKey.self] = newValue }
  }

  private enum EraWaitKey: Key {
    static let defaultValue: EraWait? = nil
    static let belongsToSetup = true
  }
}

extension StateWriter {
  /// Waits until the era of the storage is known, at most for the limit of the context. Once it was not known in time, runs no
  /// longer wait for it.
  ///
  /// - Returns: Whether it is known, or there is none.
  nonisolated(nonsending) func learnEra(in context: OperationContext) async -> Bool {
    if self.knowsEra { return true }
    if self.state.withLock({ $0.eraIsLate }) { return false }
    let wait = AwaitedOutcome<Void>()
    let executor = context.operationTaskConfiguration.executorPreference
    // Not cancelled with the run, because others wait for the same.
    Task.immediate(name: "read the era of a storage", executorPreference: executor) {
      // The store reports the error when it reads its value.
      try? await self.loadInvalidations()
      wait.decide()
    }
    if self.knowsEra { return true }
    let limit = context.operationDeadlines.schedule(after: context.operationRestorationLimit) { [weak self] in
      self?.state.withLock { $0.eraIsLate = true }
      wait.decide()
    }
    await wait.value(cancelled: ())
    limit.cancel()
    return self.knowsEra
  }

  /// Keeps the value of a run that began before the era was known out of the storage, unless its values were never removed: when that
  /// is known, a later value of the run is stored, too.
  func restrictOutcome(in context: OperationContext) {
    let isUnknown = self.state.withLock { !($0.era?.isFirst ?? false) }
    if context.outcomeStamp.isOfUnknownUser != isUnknown {
      context.editOutcomeStamp { $0.isOfUnknownUser = isUnknown }
    }
  }

  private var knowsEra: Bool { !self.isShared || self.state.withLock { $0.era != nil } }
}
