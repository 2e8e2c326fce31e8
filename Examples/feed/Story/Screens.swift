import Operation
import PostService

/// The feed, and the page of an article, as a reader sees them.
final class Screens: Sendable {
  let feed: OperationStore<Timeline.FeedState>
  let page: OperationStore<Timeline.PageState>
  private let subscription: OperationSubscription

  init(
    feed: OperationStore<Timeline.FeedState>,
    page: OperationStore<Timeline.PageState>,
    transcript: Transcript
  ) {
    self.feed = feed
    self.page = page
    self.subscription = feed.subscribe(
      with: PaginatedEventHandler(onStateChanged: { state, _ in
        if state.isLoading || state.currentValue.isEmpty { return }
        transcript.say(.state, state.currentValue.uniqueElements.map(\.title).joined(separator: " | "))
      })
    )
  }

  /// The articles of the feed, each once.
  var ids: [Int] { self.feed.currentValue.uniqueElements.map(\.id) }

  /// The title of article 9 in the feed and on its page.
  var titles: [String?] {
    [self.feed.currentValue.uniqueElements.first { $0.id == 9 }?.title, self.page.currentValue?.title]
  }
}
