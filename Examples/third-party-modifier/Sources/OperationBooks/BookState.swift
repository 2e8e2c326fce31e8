public import Foundation
public import OperationCore

/// The state of a book: its chapters, and the runs that load them.
public struct BookState<Chapter: Sendable>: Sendable {
  public typealias Task = OperationTask<[Int: Chapter], any Error>

  public let initialValue: [Int: Chapter]
  public private(set) var currentValue: [Int: Chapter]
  public private(set) var valueUpdateCount = 0
  public private(set) var valueLastUpdatedAt: Date?
  public private(set) var error: (any Error)?
  public private(set) var errorUpdateCount = 0
  public private(set) var errorLastUpdatedAt: Date?
  private var tasks: [Task] = []

  public init(initialValue: [Int: Chapter] = [:]) {
    self.initialValue = initialValue
    self.currentValue = initialValue
  }
}

extension BookState: OperationState {
  public typealias OperationValue = [Int: Chapter]

  public var isLoading: Bool { !self.tasks.isEmpty }
  public var isPaused: Bool { self.tasks.contains { $0.isPaused } }
  public var attempt: OperationAttempt? { self.tasks.last?.attempt }

  /// Runs follow each other, so that an older chapter never replaces a newer one.
  public mutating func scheduleFetchTask(_ task: inout Task) {
    // A store schedules a task again when it replays changes: the run keeps its progress.
    if task.context.runAttachment as? Reading == nil {
      task.context.runAttachment = Reading(after: self.tasks.suffix(1).map { WaitEdge(after: $0) })
      task.schedule(after: self.tasks.suffix(1))
    }
    self.tasks.append(task)
  }

  public mutating func updateFetchTask(_ task: Task) {
    if let index = self.tasks.firstIndex(where: { $0.id == task.id }) { self.tasks[index] = task }
  }

  public mutating func finishFetchTask(_ task: Task) {
    self.tasks.removeAll { $0.id == task.id }
  }

  public mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    defer { self = Self(initialValue: self.initialValue) }
    return OperationStateResetEffect(tasksToCancel: self.tasks)
  }

  public mutating func update(with result: Result<[Int: Chapter], any Error>, using context: OperationContext) {
    self.apply(result, replacing: true, context)
  }

  public mutating func update(with result: Result<[Int: Chapter], any Error>, for task: Task) {
    self.apply(result, replacing: false, task.context)
  }

  private mutating func apply(
    _ result: Result<[Int: Chapter], any Error>,
    replacing: Bool,
    _ context: OperationContext
  ) {
    let date = context.operationClock.now()
    switch result {
    case .success(let chapters):
      self.currentValue = replacing ? chapters : self.currentValue.merging(chapters) { $1 }
      self.valueUpdateCount += 1
      self.valueLastUpdatedAt = date
      self.error = nil
    case .failure(let error):
      self.error = error
      self.errorUpdateCount += 1
      self.errorLastUpdatedAt = date
    }
  }
}

/// A chapter that a run yields again replaces what the run has yielded for it before.
extension BookState: PartwiseReplacingState {
  public static func replacedPart(in context: OperationContext) -> Int? {
    (context.runAttachment as? Reading)?.next
  }
}

/// With this, mutations show their effect in a book, and modules lay notes over it.
extension BookState: OverlayableState {
  public mutating func replaceValue(with value: [Int: Chapter]) {
    self.currentValue = value
  }
}

/// With this, callers can get the chapters that are there in place of the outcome of a run.
extension BookState: ValueServingState {
  public var servedValue: [Int: Chapter]? { self.valueLastUpdatedAt == nil ? nil : self.currentValue }
}

/// With this, `.keepsEqualValues()` keeps the instances of chapters that have not changed.
extension BookState: ValueReplacingState {
  public func operationValue(replacedBy value: [Int: Chapter]) -> [Int: Chapter]? {
    self.currentValue.filter { value.keys.contains($0.key) }
  }
}
