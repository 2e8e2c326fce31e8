import Foundation
import OperationCore
import OperationTesting
import TestFixtures

/// What a ``BrokenState`` does wrong.
enum StateFault: Sendable {
  case none
  case hidesTasks
  case keepsTasks
  case ignoresFirstValue
  case keepsError
  case dropsValue
  /// It counts yields outside of the state, which no rollback undoes.
  case countsElsewhere
  case ignoresSetValues
  case resetsNothing
  case countsLayers
}

/// A state of a kind of its own around the state of a query, which may be wrong.
struct BrokenState: OperationState, Sendable {
  typealias Base = QueryState<Int, any Error>
  typealias Task = OperationTask<Int, any Error>

  private var base = Base()
  private let fault: StateFault
  private let counter = Counter()

  init(_ fault: StateFault) {
    self.fault = fault
  }

  var currentValue: Int? {
    self.fault == .countsElsewhere ? self.base.currentValue.map { $0 + self.counter.value } : self.base.currentValue
  }

  var initialValue: Int? { self.base.initialValue }
  var valueUpdateCount: Int { self.base.valueUpdateCount }
  var valueLastUpdatedAt: Date? { self.base.valueLastUpdatedAt }
  var isLoading: Bool { self.fault == .hidesTasks ? false : self.base.isLoading }
  private(set) var keptError: (any Error)?
  var error: (any Error)? { self.fault == .keepsError ? self.keptError : self.base.error }
  var errorUpdateCount: Int { self.base.errorUpdateCount }
  var errorLastUpdatedAt: Date? { self.base.errorLastUpdatedAt }

  mutating func scheduleFetchTask(_ task: inout Task) {
    self.base.scheduleFetchTask(&task)
  }

  mutating func finishFetchTask(_ task: Task) {
    if self.fault != .keepsTasks { self.base.finishFetchTask(task) }
  }

  mutating func reset(using context: OperationContext) -> OperationStateResetEffect<Self> {
    if self.fault == .resetsNothing { return OperationStateResetEffect() }
    return OperationStateResetEffect(tasksToCancel: self.base.reset(using: context).tasksToCancel)
  }

  mutating func update(with result: Result<Int?, any Error>, using context: OperationContext) {
    if self.fault != .ignoresSetValues { self.base.update(with: result, using: context) }
  }

  mutating func update(with result: Result<Int, any Error>, for task: Task) {
    self.counter.increment()
    switch result {
    case .success where self.fault == .ignoresFirstValue && self.base.valueUpdateCount == 0: break
    case .failure(let error):
      self.keptError = error
      self.base.update(with: result, for: task)
      if self.fault == .dropsValue { self.base.replaceValue(with: nil) }
    case .success: self.base.update(with: result, for: task)
    }
  }
}

extension BrokenState: OverlayableState {
  mutating func replaceValue(with value: Int?) {
    if self.fault == .countsLayers {
      self.base.update(with: .success(value), using: OperationContext())
    } else {
      self.base.replaceValue(with: value)
    }
  }
}

/// An operation of that kind, which a script controls.
struct BrokenRequest: StatefulOperationRequest {
  typealias State = BrokenState

  let script: OperationScript<Int, any Error>

  var path: OperationPath { ["broken", ObjectIdentifier(self.script)] }

  func run(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<Int, any Error>
  ) async throws -> Int {
    try await self.script.run(in: context, with: continuation)
  }
}
