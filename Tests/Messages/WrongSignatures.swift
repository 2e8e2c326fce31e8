import Operation
import SharingOperation

// Functions with another signature than the protocol asks for, and names of other libraries.

struct Letter: Sendable { var title = "" }

func letter(_ id: Int) async throws -> Letter { Letter() }

// expected-error@+2 {{type 'WrongLabel' does not conform to protocol 'SimpleQueryRequest'}}
// expected-error@+1 {{write func fetch(in context: OperationContext) async throws -> …}}
struct WrongLabel: SimpleQueryRequest, Hashable {
  func fetch(with context: OperationContext) async throws -> Letter { Letter() }
}

// expected-error@+2 {{type 'NoContext' does not conform to protocol 'SimpleQueryRequest'}}
// expected-error@+1 {{write func fetch(in context: OperationContext) async throws -> …}}
struct NoContext: SimpleQueryRequest, Hashable {
  func fetch() async throws -> Letter { Letter() }
}

// expected-error@+2 {{type 'ShortForm' does not conform to protocol 'QueryRequest'}}
// expected-error@+1 {{conform to SimpleQueryRequest, which has fetch(in:), or write fetch(isolation:in:with:)}}
struct ShortForm: QueryRequest, Hashable {
  func fetch(in context: OperationContext) async throws -> Letter { Letter() }
}

// expected-error@+2 {{type 'WrongArguments' does not conform to protocol 'SimpleMutationRequest'}}
// expected-error@+1 {{write func mutate(with arguments: …, in context: OperationContext) async throws -> …}}
struct WrongArguments: SimpleMutationRequest, Hashable {
  func mutate(title: String, in context: OperationContext) async throws -> Letter { Letter() }
}

// expected-error@+2 {{type 'ShortMutation' does not conform to protocol 'MutationRequest'}}
// expected-error@+1 {{conform to SimpleMutationRequest, which has mutate(with:in:), or write mutate(isolation:with:in:with:)}}
struct ShortMutation: MutationRequest, Hashable {
  func mutate(with title: String, in context: OperationContext) async throws -> Letter { Letter() }
}

// expected-error@+2 {{type 'PageNumber' does not conform to protocol 'SimplePaginatedRequest'}}
// expected-error@+1 {{write func fetchPage(using paging: Paging<…, …>, in context: OperationContext) async throws -> …}}
struct PageNumber: SimplePaginatedRequest, Hashable {
  let initialPageId = 0
  func pageId(
    after page: Page<Int, [Letter]>,
    using paging: Paging<Int, [Letter]>,
    in context: OperationContext
  ) -> Int? { page.id + 1 }
  func fetchPage(_ id: Int, in context: OperationContext) async throws -> [Letter] { [try await letter(id)] }
}

// expected-error@+2 {{type 'PagesAsQuery' does not conform to protocol 'SimplePaginatedRequest'}}
// expected-error@+1 {{write func fetchPage(using paging: Paging<…, …>, in context: OperationContext) async throws -> …}}
struct PagesAsQuery: SimplePaginatedRequest, Hashable {
  let initialPageId = 0
  func pageId(
    after page: Page<Int, [Letter]>,
    using paging: Paging<Int, [Letter]>,
    in context: OperationContext
  ) -> Int? { page.id + 1 }
  func fetch(in context: OperationContext) async throws -> [Letter] { [] }
}

// expected-error@+2 {{type 'ShortPages' does not conform to protocol 'PaginatedRequest'}}
// expected-error@+1 {{conform to SimplePaginatedRequest, which has fetchPage(using:in:), or write fetchPage(isolation}}
struct ShortPages: PaginatedRequest, Hashable {
  let initialPageId = 0
  func pageId(
    after page: Page<Int, [Letter]>,
    using paging: Paging<Int, [Letter]>,
    in context: OperationContext
  ) -> Int? { page.id + 1 }
  func fetchPage(using paging: Paging<Int, [Letter]>, in context: OperationContext) async throws -> [Letter] { [] }
}

// expected-error@+3 {{type 'NextPage' does not conform to protocol 'PaginatedRequest'}}
// expected-error@+2 {{type 'NextPage' does not conform to protocol 'SimplePaginatedRequest'}}
// expected-error@+1 2 {{write func pageId(after page: Page<…, …>, using paging: Paging<…, …>, in context}}
struct NextPage: SimplePaginatedRequest, Hashable {
  let initialPageId = 0
  func pageId(after page: Page<Int, [Letter]>) -> Int? { page.id + 1 }
  func fetchPage(using paging: Paging<Int, [Letter]>, in context: OperationContext) async throws -> [Letter] { [] }
}

// A failure that never happens is inferred all the same.
struct NeverFailing: SimplePaginatedRequest, Hashable {
  let initialPageId = 0
  func pageId(
    after page: Page<Int, [Letter]>,
    using paging: Paging<Int, [Letter]>,
    in context: OperationContext
  ) -> Int? { nil }
  func fetchPage(using paging: Paging<Int, [Letter]>, in context: OperationContext) async -> [Letter] { [] }
}

func neverFailing(_ paging: Paging<Int, [Letter]>) async -> [Letter] {
  await NeverFailing().fetchPage(using: paging, in: OperationContext())
}

func closures() {
  // expected-error@+1 {{the context comes after the arguments: { (arguments: …, context) in … }}}
  _ = MutationOperation("read") { id in try await letter(id) }
  // expected-error@+1 {{the context comes after the arguments: { (arguments: …, context) in … }}}
  _ = MutationOperation("read") { (id: Int) in try await letter(id) }
  _ = MutationOperation("read") { context in try await letter(1) }
  _ = MutationOperation("read") { (id: Int, context) in try await letter(id) }
}

func members(_ state: QueryState<Letter, any Error>, _ store: OperationStore<QueryState<Letter, any Error>>) {
  // expected-error@+1 {{'value' has been renamed to 'currentValue'}}
  _ = state.value?.title
  // expected-error@+1 {{'data' has been renamed to 'currentValue'}}
  _ = store.data?.title
}

@MainActor
final class LetterModel {
  // `select:` receives the value itself, and not the optional one of the state.
  // expected-error@+1 {{`select:` receives the value itself, and not an optional: write { $0.… }}}
  @SharedOperation(QueryOperation("letters", 1) { id, context in try await letter(id) }, select: { $0?.title })
  var first

  @SharedOperation(QueryOperation("letters", 2) { id, context in try await letter(id) }, select: { $0.title })
  var second
}

func show(_ store: OperationStore<QueryState<Letter, any Error>>) {}

// The state of an operation with a default value is another one.
func states(_ client: OperationClient, _ query: QueryOperation<Letter, any Error>) {
  // expected-error@+1 {{without nil: write OperationStore<PostQuery.Default.State>, or no type}}
  let store: OperationStore<QueryState<Letter, any Error>> = client.store(for: query.defaultValue(Letter()))
  // expected-error@+1 {{a default value makes a state without nil}}
  show(client.store(for: query.stale(after: .seconds(5)).defaultValue(Letter())))
  // expected-error@+1 {{a default value makes a state without nil}}
  client.store(for: query.defaultValue(Letter())).currentValue?.title = "A title"

  let list: OperationStore<DefaultOperationState<QueryState<Letter, any Error>>> =
    client.store(for: query.defaultValue(Letter()))
  let letters = client.store(for: query.defaultValue(Letter()))
  letters.currentValue.title = "A title"
  // Where no call of a client is, the compiler's own message names both states.
  // expected-note@+2 {{are expected to be equal}}
  // expected-error@+1 {{(aka 'OperationStore<DefaultOperationState<QueryState<Letter, any Error>>>')}}
  show(letters)
  _ = (store, list)
}
