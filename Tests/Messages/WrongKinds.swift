import Operation
import OperationChaos
import OperationDerivation
import OperationPersistence
import OperationScheduling

// What is for another kind of operation, value or failure.

struct Post: Codable, Sendable { var title = "" }

struct Connection: Sendable {}

struct Refused: Error {}

struct RenamePost: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with title: String,
    in context: OperationContext,
    with continuation: OperationContinuation<Post, any Error>
  ) async throws -> Post { Post(title: title) }
}

struct NameQuery: QueryRequest, Hashable {
  typealias State = QueryState<String, Refused>

  func fetch(
    isolation: isolated (any Actor)?,
    in context: OperationContext,
    with continuation: OperationContinuation<String, Refused>
  ) async throws(Refused) -> String { "name" }
}

func calls(_ client: OperationClient, _ post: QueryOperation<Post, any Error>) async throws {
  let rename = client.store(for: RenamePost())
  // expected-error@+1 {{a mutation is not fetched: call mutate(with:)}}
  _ = try await client.store(for: RenamePost()).fetch()
  // expected-error@+1 {{'mutate' has been renamed to 'mutate(with:)'}}
  _ = try await rename.mutate("title")
  // expected-error@+1 {{a query is not mutated: call fetch(), or set currentValue}}
  _ = try await client.store(for: post).mutate(with: "title")
}

struct Feed: SimplePaginatedRequest, Hashable {
  let initialPageId = 0
  func pageId(
    after page: Page<Int, [Post]>,
    using paging: Paging<Int, [Post]>,
    in context: OperationContext
  ) -> Int? { nil }
  func fetchPage(using paging: Paging<Int, [Post]>, in context: OperationContext) async throws -> [Post] { [] }
}

func clients(_ client: OperationClient, _ post: QueryOperation<Post, any Error>) async throws {
  // expected-error@+1 {{pages are loaded one by one: call fetchNextPage(), or refetchAllPages()}}
  _ = try await client.store(for: Feed()).fetch()
  // expected-error@+1 {{pages are loaded by their store: call store(for:).fetchNextPage()}}
  _ = try await client.fetch(Feed())
  // expected-error@+1 {{a mutation has no value to ensure: call mutate(_:with:)}}
  _ = try await client.ensureValue(for: RenamePost())
  // expected-error@+1 {{a mutation runs only when it is called: call mutate(_:with:)}}
  await client.prefetch(for: RenamePost())
  // expected-error@+1 {{a query is not mutated: call fetch(_:), or setValue(_:for:)}}
  _ = try await client.mutate(post)
  // expected-error@+1 {{'invalidate' has been renamed to 'invalidate(matching:)'}}
  client.invalidate(["posts"])
  // expected-error@+1 {{'refetch()' has been renamed to 'fetch()'}}
  _ = try await client.store(for: post).refetch()
  // expected-error@+1 {{an invalidation is of a path: call client.invalidate(matching: store.path)}}
  client.store(for: post).invalidate()
}

func updates() {
  // expected-error@+1 {{name the kind of state: .optimistic(on: path, of: PostQuery.State.self) { … }}}
  _ = RenamePost().optimistic(on: ["post"]) { post, title in post?.title = title }
  // expected-error@+1 {{name the kind of state: .optimistic(on: path, of: PostQuery.State.self) { … }}}
  _ = RenamePost().optimistic(on: { ["post", $0] }, apply: { post, title in post?.title = title })
  // expected-error@+1 {{name the kind of state: .optimistic(on: path, of: PostQuery.State.self) { … }}}
  _ = RenamePost().optimistic(on: ["posts"]) { posts, title in posts?.insert(Post(title: title), at: 0) }
}

func kinds(_ post: QueryOperation<Post, any Error>, _ connection: QueryOperation<Connection, any Error>) {
  // expected-error@+1 {{`of:` takes the type of a state, such as QueryState<Post, any Error>.self}}
  _ = RenamePost().optimistic(on: ["post"], of: Post.self) { post, title in post?.title = title }
  // expected-error@+1 {{it stores the value of a query or of pages, which has to be Codable}}
  _ = RenamePost().persisted(as: "rename")
  // expected-error@+1 {{it stores the value of a query or of pages, which has to be Codable}}
  _ = connection.persisted(as: "connection")
  // expected-error@+1 {{a query's value is persisted(as:)}}
  _ = post.journaled(as: "post")
  // expected-error@+1 {{write .idempotent() before .hedged(after:) if that is harmless}}
  _ = RenamePost().hedged(after: .seconds(1))
  // expected-error@+1 {{only a mutation invalidates: write it on the mutation}}
  _ = post.invalidates(matching: ["posts"])
  // expected-error@+1 {{only mutations have a scope}}
  _ = post.scope("posts")
  // expected-error@+1 {{only a query can be derived}}
  _ = RenamePost().derived()
}

func failures(_ limit: ConcurrencyLimit, _ breakers: CircuitBreakers, _ chaos: Chaos) {
  // expected-error@+1 {{with .limited(by: limit, else: { error in … })}}
  _ = NameQuery().limited(by: limit)
  // expected-error@+1 {{with .circuitBreaker(breakers, by: { … }, else: { error in … })}}
  _ = NameQuery().circuitBreaker(breakers) { _, _ in "host" }
  // expected-error@+1 {{with .chaos(chaos, else: { error in … })}}
  _ = NameQuery().chaos(chaos)
  // expected-error@+1 {{with .unique(id, policy: policy, else: { error in … })}}
  _ = NameQuery().unique("name", policy: .keep)
}

func freshness(_ rename: RenamePost, _ feed: Feed) {
  // expected-error@+1 {{only a query serves a stale value}}
  _ = rename.servesStale(softTimeout: .seconds(1), maximumAge: .seconds(60))
  // expected-error@+1 {{only a query serves a stale value}}
  _ = feed.servesStale(onFailureFor: .seconds(60))
  // expected-error@+1 {{only a query is refreshed early}}
  _ = rename.refreshesEarly(after: 0.8)
}
