import Foundation
import Observation
import PostService
import SharingOperation

/// What the screen shows: the state of a few operations, each read tracked by itself.
@MainActor
final class DashboardModel {
  @SharedOperation<QueryState<Post?, any Error>> private var post: Post??
  @SharedOperation<QueryState<Post?, any Error>> private var flaky: Post??
  @SharedOperation<PaginatedState<Int, PostPage, any Error>> private var feed: Pages<Int, PostPage>
  @SharedOperation<MutationState<PostDraft, Post, any Error>> private var create: Post?
  private let log: RequestLog

  init(client: OperationClient, log: RequestLog) {
    self.log = log
    self._post = SharedOperation(PostQuery(id: 1).networkMode(.online).rerun(every: .seconds(1)), client: client)
    self._flaky = SharedOperation(PostQuery(id: 2).networkMode(.online).rerun(every: .seconds(2)), client: client)
    self._feed = SharedOperation(FeedQuery(), client: client)
    self._create = SharedOperation(CreatePost(), client: client)
  }

  func loadMore() async throws {
    try await self.$feed.fetchNextPage()
  }

  func createPost(title: String) async throws {
    try await self.$create.mutate(with: PostDraft(userId: 1, title: title, body: "Written by the dashboard."))
  }
}

extension DashboardModel {
  /// The rows of the screen. An observer is notified when a property that they show changes.
  var rows: [Row] {
    [
      self.row("Post 1, every second", of: self.$post) { "\"\($0?.title ?? "no such post")\"" },
      self.row("Post 2, often down", of: self.$flaky) { "\"\($0?.title ?? "no such post")\"" },
      self.feedRow,
      self.creationRow,
      Row(name: "Requests", mark: .none, text: "\(self.log.total) seen by the server"),
    ]
  }

  private func row(
    _ name: String,
    of shared: SharedOperation<QueryState<Post?, any Error>>,
    _ describe: (Post?) -> String
  ) -> Row {
    let value = shared.currentValue.map(describe) ?? "nothing yet"
    if let attempt = shared.attempt, let failure = attempt.lastFailure {
      let what = attempt.nextBegins == nil ? "attempt \(attempt.index) after" : "attempt \(attempt.index) failed:"
      return Row(name: name, mark: .waiting, text: "\(value), \(what) \(failure.inWords)")
    }
    if shared.isLoading { return Row(name: name, mark: .loading, text: value) }
    if let error = shared.error { return Row(name: name, mark: .failed, text: "\(value), then \(error.inWords)") }
    return Row(name: name, mark: .fresh, text: "\(value), set \(shared.valueUpdateCount) times")
  }

  private var feedRow: Row {
    let posts = self.feed.flatMap(\.value.posts)
    let total = self.feed.last?.value.total ?? 0
    return Row(
      name: "Feed",
      mark: self.$feed.isLoading ? .loading : .fresh,
      text: "\(posts.count) of \(total) posts on \(self.feed.count) pages"
        + (self.$feed.hasNextPage ? "" : ", all there")
    )
  }

  private var creationRow: Row {
    let name = "New posts"
    if self.$create.isLoading { return Row(name: name, mark: .loading, text: "sending") }
    if let error = self.$create.error { return Row(name: name, mark: .failed, text: error.inWords) }
    guard let post = self.create else { return Row(name: name, mark: .none, text: "none yet") }
    return Row(name: name, mark: .fresh, text: "number \(post.id): \"\(post.title)\"")
  }
}

/// A row of the screen.
struct Row: Hashable, Sendable {
  enum Mark: String, Sendable {
    case none = " "
    case loading = "…"
    case waiting = "↻"
    case fresh = "●"
    case failed = "✗"
  }

  var name: String
  var mark: Mark
  var text: String

  /// The row as a line of at most `width` characters.
  func line(width: Int) -> String {
    let line = "\(self.mark.rawValue) \(self.name.padding(to: 22)) \(self.text)"
    return line.count > width ? String(line.prefix(max(0, width - 1))) + "…" : line
  }
}
