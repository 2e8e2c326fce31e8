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
