import Operation

struct HidePost: MutationRequest, Hashable {
  func mutate(
    isolation: isolated (any Actor)?,
    with id: Int,
    in context: OperationContext,
    with continuation: OperationContinuation<Void, any Error>
  ) async throws {}
}

let rename = MutationOperation("posts", "rename") { (title: String, _) in
  try await api.rename(post: 1, to: title)
}
let like = client.store(for: LikePost())
