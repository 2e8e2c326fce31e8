public import OperationCore

extension OperationBatcher {
  /// Changes the limits of the batcher, also while callers wait.
  ///
  /// A batch that is open keeps its window. Batches that a higher ``BatcherSnapshot/maximumConcurrentBatches`` lets go are
  /// sent on this thread.
  ///
  /// Impossible limits are reported with a warning. Then nothing changes.
  ///
  /// - Parameters:
  ///   - maximumSize: The highest number of keys in a batch, at least 1; nil leaves it as it is.
  ///   - window: How long a batch collects keys, at least zero; nil leaves it as it is. It means nothing for a batcher
  ///     with a scheduler.
  ///   - maximumConcurrentBatches: The highest number of batches under way, at least 1; nil leaves it as it is, `Int.max`
  ///     is no limit.
  ///   - maximumWaitingKeys: The highest number of keys that have not been sent, at least 1; nil leaves it as it is,
  ///     `Int.max` is no limit.
  ///   - context: Its observers receive the notice ``OperationCore/OperationNotice/Name/batchLimitsChanged``.
  /// - Returns: Whether the limits are possible.
  @discardableResult
  public func update(
    maximumSize: Int? = nil,
    window: OperationDuration? = nil,
    maximumConcurrentBatches: Int? = nil,
    maximumWaitingKeys: Int? = nil,
    in context: OperationContext = OperationContext()
  ) -> Bool {
    let problem =
      BatchLimits.problem("maximumSize", maximumSize) ?? BatchLimits.problem(window: window)
      ?? BatchLimits.problem("maximumConcurrentBatches", maximumConcurrentBatches)
      ?? BatchLimits.problem("maximumWaitingKeys", maximumWaitingKeys)
    if OperationWarning.refuses(problem, by: "\(self.pathElement)") { return false }
    let (earlier, limits, batches) = self.queue.update { limits in
      if let maximumSize { limits.maximumSize = maximumSize }
      if let window { limits.window = window }
      if let maximumConcurrentBatches { limits.maximumConcurrentBatches = maximumConcurrentBatches }
      if let maximumWaitingKeys { limits.maximumWaitingKeys = maximumWaitingKeys }
    }
    context.send(.batchLimitsChanged, of: SettingsChange(of: self.name, from: earlier, to: limits))
    for batch in batches { self.send(batch) }
    return true
  }

  /// What the batcher is doing, at one moment.
  ///
  /// - Returns: A snapshot. Taking it changes nothing.
  public func snapshot() -> BatcherSnapshot {
    let numbers = self.queue.numbers
    return BatcherSnapshot(
      name: "\(self.pathElement)",
      maximumSize: numbers.limits.maximumSize,
      window: self.scheduler == nil ? numbers.limits.window : nil,
      maximumConcurrentBatches: numbers.limits.maximumConcurrentBatches.limitIfAny,
      maximumWaitingKeys: numbers.limits.maximumWaitingKeys.limitIfAny,
      openBatches: numbers.openBatches,
      readyBatches: numbers.readyBatches,
      sentBatches: numbers.sentBatches,
      waitingKeys: numbers.waitingKeys,
      primedKeys: self.primed.answerCount,
      batches: numbers.counts.batches,
      keys: numbers.counts.keys,
      largestBatch: numbers.counts.largestBatch,
      rejections: numbers.counts.rejections
    )
  }

  /// The error of a caller that finds the queue full. Sends a notice.
  @usableFromInline
  func rejection(_ limit: Int, in context: OperationContext) -> BatchQueueFull {
    var attributes: [String: OperationNotice.Value] = ["batch.maximum_waiting": .integer(limit)]
    if let name { attributes["batch.name"] = .string(name) }
    context.send(OperationNotice(.batchRejected, attributes: attributes))
    return BatchQueueFull(name: self.name, limit: limit)
  }
}

extension OperationBatcher: CustomStringConvertible {
  /// The name of the batcher and what it is doing: its ``snapshot()``.
  public var description: String { "Batcher \(self.snapshot())" }
}

/// What an ``OperationBatcher`` is doing, at one moment, for logs and for a status page.
public struct BatcherSnapshot: Hashable, Sendable, Encodable, CustomStringConvertible {
  /// The name of the batcher; one without a name has a number, such as `batcher 3`.
  public let name: String

  /// The highest number of keys in a batch.
  public let maximumSize: Int

  /// How long a batch collects keys; nil for a batcher with a scheduler.
  public let window: OperationDuration?

  /// The highest number of batches under way; nil for no limit.
  public let maximumConcurrentBatches: Int?

  /// The highest number of keys that have not been sent; nil for no limit.
  public let maximumWaitingKeys: Int?

  /// The batches that collect keys.
  public let openBatches: Int

  /// The batches that are closed, and wait until fewer are under way.
  public let readyBatches: Int

  /// The batches under way.
  public let sentBatches: Int

  /// The keys in open and ready batches.
  public let waitingKeys: Int

  /// The keys whose answer the batcher was given.
  public let primedKeys: Int

  /// The batches that were sent since the batcher was created.
  public let batches: Int

  /// The keys in these batches.
  public let keys: Int

  /// The number of keys in the largest of these batches.
  public let largestBatch: Int

  /// The callers that were rejected because too many keys waited.
  public let rejections: Int

  /// The snapshot on one line.
  public var description: String {
    """
    \(self.name): \(self.waitingKeys) keys wait, \(self.readyBatches) batches ready, \(self.sentBatches) under way; \
    \(self.batches) batches of \(self.keys) keys, \(self.rejections) rejected
    """
  }
}

extension BatcherSnapshot: OperationResilienceSnapshot {
  /// The keys and batches at the moment, and the counts.
  public var gauges: [String: Double] {
    [
      "batch.waiting_keys": Double(self.waitingKeys), "batch.primed_keys": Double(self.primedKeys),
      "batch.open": Double(self.openBatches), "batch.ready": Double(self.readyBatches),
      "batch.active": Double(self.sentBatches), "batch.batches": Double(self.batches), "batch.keys": Double(self.keys),
      "batch.largest": Double(self.largestBatch), "batch.rejections": Double(self.rejections),
    ]
  }
}

extension OperationNotice.Name {
  /// The limits of a batcher were changed.
  ///
  /// The attributes `batch.maximum_size`, `batch.window`, `batch.maximum_batches` and `batch.maximum_waiting` are the present
  /// limits, those with `.previous` at the end what has changed, and `batch.name` is the name of the batcher.
  public static let batchLimitsChanged = Self("batch.limits_changed")

  /// A batcher has rejected a caller, because as many keys waited as may. The attribute `batch.maximum_waiting` is that
  /// number, `batch.name` the name of the batcher.
  public static let batchRejected = Self("batch.rejected")
}
