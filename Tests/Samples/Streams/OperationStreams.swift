import Operation

func userQuery(_ id: Int) -> QueryOperation<User, any Error> {
  QueryOperation("users", id) { _ in try await server.user(id) }
}

func postsQuery(by user: Int) -> QueryOperation<[Post], any Error> {
  QueryOperation("posts", user) { _ in try await server.posts(by: user) }
}

let userStore = OperationClient().store(for: userQuery(1))
