import OperationCore
import OperationPagination
import OperationTesting
import Synchronization
import TestFixtures

typealias List = Pages<Int, String>
typealias ListPage = Page<Int, String>
typealias ListState = PaginatedState<Int, String, any Error>
typealias ListStore = OperationStore<ListState>
typealias ListScript = OperationScript<String, any Error>
typealias ListRecorder = EventRecorder<ListState>

/// A list whose pages come from a server of the test.
struct ListRequest: PaginatedRequest {
  let server: ListServer
  var initialPageId = 0

  var path: OperationPath { ["list", ObjectIdentifier(self.server)] }

  func pageId(after page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    self.server.noteNeighbourRequest(paging)
    return self.server.next(page.id, context.stride)
  }

  func pageId(before page: ListPage, using paging: Paging<Int, String>, in context: OperationContext) -> Int? {
    page.id - context.stride >= self.server.bounds.lowerBound ? page.id - context.stride : nil
  }

  func fetchPage(
    isolation: isolated (any Actor)?,
    using paging: Paging<Int, String>,
    in context: OperationContext,
    with continuation: OperationContinuation<String, any Error>
  ) async throws -> String {
    self.server.noteFetch(paging)
    return try await self.server.script.run(in: context, with: continuation)
  }
}

/// The server of a list: a script that fetches its pages, and a record of the requests.
final class ListServer: Sendable {
  private struct State {
    var bounds = -100...100
    var pagings: [Paging<Int, String>] = []
    var neighbourRequests: [Paging<Int, String>] = []
    var next: (@Sendable (Int) -> Int?)?
  }

  let script: ListScript
  private let state = Mutex(State())

  init(_ outcome: ListScript.Outcome = .suspend, endsOnCancellation: Bool = true) {
    self.script = ListScript(default: outcome, endsOnCancellation: endsOnCancellation)
  }

  var request: ListRequest { ListRequest(server: self) }

  /// The identifiers of the first and the last page.
  var bounds: ClosedRange<Int> {
    get { self.state.withLock { $0.bounds } }
    set { self.state.withLock { $0.bounds = newValue } }
  }

  /// Sets the closure that returns the identifier of the page after another.
  func setNext(_ next: @escaping @Sendable (Int) -> Int?) {
    self.state.withLock { $0.next = next }
  }

  func next(_ id: Int, _ stride: Int) -> Int? {
    if let next = self.state.withLock({ $0.next }) { return next(id) }
    return id + stride <= self.bounds.upperBound ? id + stride : nil
  }

  /// The requests for pages, in order.
  var pagings: [Paging<Int, String>] { self.state.withLock { $0.pagings } }

  /// The identifiers of the pages that were fetched, in order.
  var fetchedIds: [Int] { self.pagings.map(\.pageId) }

  /// The requests for the identifier of the page after another, in order.
  var neighbourRequests: [Paging<Int, String>] { self.state.withLock { $0.neighbourRequests } }

  func noteFetch(_ paging: Paging<Int, String>) {
    self.state.withLock { $0.pagings.append(paging) }
  }

  func noteNeighbourRequest(_ paging: Paging<Int, String>) {
    self.state.withLock { $0.neighbourRequests.append(paging) }
  }

  /// Sets the values of the next pages.
  func enqueue(_ values: String...) {
    self.script.enqueue(values.map { .value($0) })
  }
}

extension OperationContext {
  /// The distance between the identifiers of neighbours.
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

  /// The identifiers and the values: `0a 1b`.
  var text: String { self.map { "\($0.id)\($0.value)" }.joined(separator: " ") }
}

extension OperationStore where State == ListState {
  var text: String { self.currentValue.text }
}

/// Starts a call at once, in a task that the test can await later.
func start<Value: Sendable>(_ call: @escaping @Sendable () async throws -> Value) -> Task<Value, any Error> {
  Task.immediate { try await call() }
}

extension Log<String> {
  /// A handler that appends the events as text, after a prefix.
  func handler(_ prefix: String = "", states: Bool = false) -> PaginatedEventHandler<ListState> {
    var handler = PaginatedEventHandler<ListState>()
    if states { handler.onStateChanged = { state, _ in self.append("\(prefix)state[\(state.currentValue.text)]") } }
    handler.onFetchingStarted = { _ in self.append("\(prefix)start") }
    handler.onPageFetchingStarted = { id, _ in self.append("\(prefix)page \(id)") }
    handler.onPageResultReceived = { id, result, context in
      let kind = context.operationResultUpdateReason == .yieldedResult ? "yield" : "result"
      let value = (try? result.get())?.value ?? "error"
      self.append("\(prefix)\(kind) \(id) \(value)")
    }
    handler.onResultReceived = { result, _ in
      let text = (try? result.get())?.pages.text ?? "error"
      self.append("\(prefix)run \(text)")
    }
    handler.onPageFetchingEnded = { id, _ in self.append("\(prefix)end \(id)") }
    handler.onFetchingEnded = { _ in self.append("\(prefix)end") }
    return handler
  }
}
