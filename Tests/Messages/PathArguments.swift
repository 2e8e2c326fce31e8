import Operation

// A closure that receives the elements of its path.

struct Article: Sendable { var title = "" }

func article(_ id: Int) async throws -> Article { Article() }

func queries(_ id: Int, _ user: String) {
  _ = QueryOperation("articles", id) { id, context in try await article(id) }
  // expected-error@+1 {{the context comes after the elements of the path: { id, context in … }}}
  _ = QueryOperation("articles", id) { id in try await article(id) }
  // expected-error@+1 {{the context comes after the elements of the path: { id, context in … }}}
  _ = QueryOperation("articles", id) { try await article($0) }
  // expected-error@+1 {{the context comes after the elements of the path: { id, context in … }}}
  _ = QueryOperation("articles", id, user) { id, context in try await article(id) }
  // expected-error@+1 {{cannot convert value of type 'String' to expected argument type 'Int'}}
  _ = QueryOperation("articles", user) { id, context in try await article(id) }
  // expected-error@+1 {{value of type 'Article' has no member 'titel'}}
  _ = QueryOperation("articles", id) { id, context in try await article(id).titel }
  // expected-error@+1 {{cannot find 'artikel' in scope}}
  _ = QueryOperation("articles", id) { id, context in try await artikel(id) }
}
