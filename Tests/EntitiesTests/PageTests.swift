import Foundation
import OperationCore
import OperationEntities
import OperationPagination
import OperationTesting
import TestFixtures
import Testing

/// Entities in the pages of a list.
@Suite(.bounded, .warningsAreIssues) struct PageTests {
  private let client = OperationClient()
  private let script = FeedScript()

  private func titles(_ store: OperationStore<PageState>) -> [[String]] {
    store.currentValue.map { page in page.value.map(\.title) }
  }

  @Test func `An edit shows in all pages that have the part`() {
    let pages = self.client.pages(
      self.script,
      [Page(id: 0, value: posts([1: "a", 7: "b"])), Page(id: 1, value: posts([2: "c", 7: "b"]))]
    )
    let detail = self.client.detail(initialValue: Detail(post: Post(id: 7, title: "b")))
    detail.currentValue?.post.title = "new"
    expect(self.titles(pages), equals: [["a", "new"], ["c", "new"]])
    pages.currentValue[id: 0]?.value[1].title = "newer"
    expect(self.titles(pages), equals: [["a", "newer"], ["c", "newer"]])
    expect(detail.currentValue?.post.title, equals: "newer")
  }

  @Test func `A page that brings a newer part replaces it in the others`() async throws {
    let pages = self.client.pages(self.script, [Page(id: 0, value: posts([1: "a", 7: "b"]))])
    self.script.enqueue(.value(posts([7: "new", 2: "c"])))
    try await pages.fetchNextPage()
    expect(self.titles(pages), equals: [["a", "new"], ["new", "c"]])
  }

  @Test func `An edit while all pages are refetched is in each of them`() async throws {
    let pages = self.client.pages(
      self.script,
      [Page(id: 0, value: posts([7: "a"])), Page(id: 1, value: posts([7: "a", 8: "b"]))]
    )
    let task = Task.immediate { try await pages.refetchAllPages() }
    let first = try await self.script.next()
    first.succeed(posts([7: "old"]))
    let second = try await self.script.next()
    self.client.putEntity(Post(id: 7, title: "edited"))
    second.succeed(posts([7: "old", 8: "b"]))
    _ = try await task.value
    expect(self.titles(pages), equals: [["edited"], ["edited", "b"]])
  }

  @Test func `A page that is being refetched still replaces one that an edit has changed`() async throws {
    let pages = self.client.pages(self.script, [Page(id: 0, value: posts([7: "a", 8: "b"]))])
    let date = pages.pageDate
    let task = Task.immediate { try await pages.refetchAllPages() }
    let run = try await self.script.next()
    self.client.putEntity(Post(id: 7, title: "edited"))
    expect(pages.pageDate, equals: date)
    run.succeed(posts([9: "first", 7: "a"]))
    _ = try await task.value
    expect(self.titles(pages), equals: [["first", "edited"]])
  }

  @Test func `An edit moves no element that several pages have`() async throws {
    let pages = self.client.pages(self.script, [Page(id: 0, value: posts([7: "b", 1: "a"]))])
    self.script.enqueue(.value(posts([7: "b", 2: "c"])))
    try await pages.fetchNextPage()
    // The second page was fetched last, so its element is the one that counts.
    expect(pages.currentValue.uniqueElements.map(\.title), equals: ["a", "b", "c"])
    self.client.putEntity(Post(id: 1, title: "edited"))
    expect(pages.currentValue.uniqueElements.map(\.title), equals: ["edited", "b", "c"])
  }

  @Test func `Pages of one refetch that differ show the last, and other values show it, too`() async throws {
    let pages = self.client.pages(
      self.script,
      [Page(id: 0, value: posts([7: "a"])), Page(id: 1, value: posts([8: "b"]))]
    )
    let detail = self.client.detail(initialValue: Detail(post: Post(id: 7, title: "a")))
    self.script.enqueue(.value(posts([7: "first"])), .value(posts([7: "last"])))
    _ = try await pages.refetchAllPages()
    expect(self.titles(pages), equals: [["last"], ["last"]])
    expect(detail.currentValue?.post.title, equals: "last")
  }
}

extension OperationStore where State == PageState {
  fileprivate var pageDate: Date? { self.oldestPartUpdatedAt }
}
