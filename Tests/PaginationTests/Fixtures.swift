import OperationCore
import OperationPagination
import OperationTesting
import Synchronization

typealias List = Pages<Int, String>
typealias ListPage = Page<Int, String>
typealias ListState = PaginatedState<Int, String, any Error>
typealias ListStore = OperationStore<ListState>
typealias ListScript = OperationScript<String, any Error>
typealias ListRecorder = EventRecorder<ListState>

/// A list whose pages a test fetches, and which goes from one bound to the other.
struct ListRequest: PaginatedRequest {
  let shelf: Shelf
  var initialPageId = 0

  var path: OperationPath { ["list", ObjectIdentifier(self.shelf)] }

  func pageId(after page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    self.shelf.note(after: page, paging)
    return self.shelf.next(page.id, context.stride)
  }

  func pageId(before page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    page.id - context.stride >= self.shelf.bounds.lowerBound ? page.id - context.stride : nil
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, String>,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    self.shelf.note(paging)
    return try await self.shelf.script.run(in: context, with: continuation)
  }
}

/// What stands behind a list: a script that fetches its pages, and a record of what was asked for.
final class Shelf: Sendable {
  private struct State {
    var bounds = -100...100
    var pagings: [Paging<Int, String>] = []
    var questions: [Paging<Int, String>] = []
    var next: (@Sendable (Int) -> Int?)?
  }

  let script: ListScript
  private let state = Mutex(State())

  init(_ outcome: ListScript.Outcome = .suspend, endsOnCancellation: Bool = true) {
    self.script = ListScript(default: outcome, endsOnCancellation: endsOnCancellation)
  }

  var request: ListRequest { ListRequest(shelf: self) }

  /// The first and the last identifier that there are.
  var bounds: ClosedRange<Int> {
    get { self.state.withLock { $0.bounds } }
    set { self.state.withLock { $0.bounds = newValue } }
  }

  /// Says what comes after a page.
  func setNext(_ next: @escaping @Sendable (Int) -> Int?) {
    self.state.withLock { $0.next = next }
  }

  func next(_ id: Int, _ stride: Int) -> Int? {
    if let next = self.state.withLock({ $0.next }) { return next(id) }
    return id + stride <= self.bounds.upperBound ? id + stride : nil
  }

  /// What pages were fetched for, in order.
  var pagings: [Paging<Int, String>] { self.state.withLock { $0.pagings } }

  /// The identifiers of the pages that were fetched, in order.
  var fetchedIds: [Int] { self.pagings.map(\.pageId) }

  /// What the page after another was asked for with, in order.
  var questions: [Paging<Int, String>] { self.state.withLock { $0.questions } }

  func note(_ paging: Paging<Int, String>) {
    self.state.withLock { $0.pagings.append(paging) }
  }

  func note(after page: ListPage, _ paging: Paging<Int, String>) {
    self.state.withLock { $0.questions.append(paging) }
  }

  /// Says what the next pages are.
  func enqueue(_ values: String...) {
    self.script.enqueue(values.map { .value($0) })
  }
}

extension OperationContext {
  /// How far the identifiers of neighbours are apart.
  var stride: Int {
    get { self[StrideKey.self] }
    set { self[StrideKey.self] = newValue }
  }

  private enum StrideKey: Key {
    static let defaultValue = 1
  }
}

extension Pages where PageID == Int, PageValue == String {
  /// The pages `first`, `first + 1`, … with these values.
  init(from first: Int = 0, _ values: String...) {
    self.init(zip(first..., values).map { Page(id: $0, value: $1) })
  }

  /// What tests compare: `0a 1b`.
  var text: String { self.map { "\($0.id)\($0.value)" }.joined(separator: " ") }
}

extension OperationStore where State == ListState {
  var text: String { self.currentValue.text }
}

/// A call that a test waits for later; it has begun when this returns.
func start<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
  Task.immediate { try await call() }
}
