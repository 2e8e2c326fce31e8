internal import OperationCore

/// What can be changed of a batcher while it is in use.
@usableFromInline
struct BatchLimits: Sendable {
  /// The highest number of keys in a batch, at least 1.
  var maximumSize: Int
  /// How long a batch collects keys, without a scheduler.
  var window: Duration
  /// The highest number of batches under way, at least 1.
  var maximumConcurrentBatches: Int
  /// The highest number of keys that have not been sent, at least 1.
  var maximumWaitingKeys: Int

  @usableFromInline
  init(maximumSize: Int, window: Duration, maximumConcurrentBatches: Int?, maximumWaitingKeys: Int?) {
    self.maximumSize = maximumSize
    self.window = max(window, .zero)
    self.maximumConcurrentBatches = maximumConcurrentBatches?.validBatchLimit("maximumConcurrentBatches") ?? .max
    self.maximumWaitingKeys = maximumWaitingKeys?.validBatchLimit("maximumWaitingKeys") ?? .max
  }

  /// What is impossible about a number; nil if nothing is.
  static func problem(_ name: String, _ number: Int?) -> String? {
    guard let number, number < 1 else { return nil }
    return "A batcher cannot have `\(name): \(number)`. Pass at least 1."
  }

  static func problem(window: Duration?) -> String? {
    guard let window, window < .zero else { return nil }
    return "A batch cannot collect keys for `window: \(window)`. Pass zero or more."
  }
}

extension SettingsChange {
  /// What an update has changed of the limits of a batcher.
  init(of name: String?, from earlier: BatchLimits, to current: BatchLimits) {
    self.init(of: name.map { ["batch.name": .string($0)] } ?? [:])
    self.add("batch.maximum_size", from: .integer(earlier.maximumSize), to: .integer(current.maximumSize))
    self.add("batch.window", from: .duration(earlier.window), to: .duration(current.window))
    for (key, path) in [
      ("batch.maximum_batches", \BatchLimits.maximumConcurrentBatches), ("batch.maximum_waiting", \.maximumWaitingKeys),
    ] {
      self.add(
        key,
        from: earlier[keyPath: path].limitIfAny.map { .integer($0) },
        to: current[keyPath: path].limitIfAny.map { .integer($0) }
      )
    }
  }
}

extension Int {
  /// The number as a limit of a batcher. One below 1 is reported and counts as 1.
  func validBatchLimit(_ name: String) -> Int {
    guard self < 1 else { return self }
    OperationWarning(
      code: .invalidArgument,
      message: "A batcher was given `\(name): \(self)`, which counts as 1. Pass at least 1."
    ).report()
    return 1
  }

  /// The number as a limit for people: nil for none.
  var limitIfAny: Int? { self == .max ? nil : self }
}

/// What has become of the batches of a batcher.
struct BatchCounts: Sendable {
  var batches = 0
  var keys = 0
  var largestBatch = 0
  var rejections = 0

  /// Counts a batch that is sent.
  mutating func note(_ keyCount: Int) {
    guard keyCount > 0 else { return }
    self.batches &+= 1
    self.keys &+= keyCount
    self.largestBatch = Swift.max(self.largestBatch, keyCount)
  }
}

/// What a batcher is doing at one moment.
struct BatchNumbers: Sendable {
  let limits: BatchLimits
  let counts: BatchCounts
  let openBatches: Int
  let readyBatches: Int
  let sentBatches: Int
  let waitingKeys: Int
}
