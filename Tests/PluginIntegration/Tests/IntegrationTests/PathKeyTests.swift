import Operation
import Screens
import Service
import Testing

@testable import App

@Suite
struct PathKeyTests {
  let client = OperationClient()

  @Test
  func `A key finds the store of its operation, typed`() async throws {
    #expect(self.client.store(with: App.PathKeys.users.profile(id: "a")) == nil)
    let store = self.client.store(for: User.ProfileQuery(id: "a"))
    #expect(self.client.store(with: App.PathKeys.users.profile(id: "a")) === store)
    let found: User? = self.client.store(with: App.PathKeys.users.profile(id: "a"))?.currentValue
    #expect(found == nil)
  }

  @Test
  func `Keys from two files are one tree`() throws {
    #expect(App.PathKeys.users.path == ["users"])
    let profile = self.client.store(for: User.ProfileQuery(id: "a"))
    let friends = self.client.store(for: User.FriendsQuery(userId: "a"))
    #expect(profile.path == ["users", "profile", "a"])
    #expect(friends.path == ["users", "friends", "a"])
    #expect(self.client.stores(matching: App.PathKeys.users.path).count == 2)
    #expect(self.client.store(with: App.PathKeys.users.friends(userId: "a")) === friends)
  }

  @Test
  func `A target adds keys of its own to the tree`() {
    #expect(App.PathKeys.ownFavourite == App.PathKeys.favourite(of: "me"))
  }

  @Test
  func `A prefix finds the stores for all parameters, typed`() {
    let stores = ["a", "b"].map { self.client.store(for: User.FriendsQuery(userId: $0)) }
    self.client.store(for: User.ProfileQuery(id: "a")).currentValue = User(id: "a")
    let found = self.client.stores(matching: App.PathKeys.users.friends)
    #expect(found.count == 2)
    for store in found { store.currentValue = [Page(id: 0, value: [User(id: "c")])] }
    #expect(stores.allSatisfy { $0.currentValue.first?.value == [User(id: "c")] })
  }

  @Test
  func `A key of an operation equals the key with its parameters`() {
    #expect(OperationPathKey(User.ProfileQuery(id: "a")) == App.PathKeys.users.profile(id: "a"))
    #expect(OperationPathKey(Article.LatestQuery()) == Service.PathKeys.articles.latest)
    #expect(OperationPathKey(User.ProfileQuery(id: "a")) != App.PathKeys.users.profile(id: "b"))
  }

  @Test
  func `Public keys of another module can be used`() async throws {
    var context = OperationContext()
    context.library = OneArticle()
    let client = OperationClient(defaultContext: context)
    let article = try await client.store(for: Article.Query(number: 1)).fetch()
    #expect(client.store(with: Service.PathKeys.articles.article(number: 1))?.currentValue == article)
    #expect(try await client.store(for: Article.LatestQuery()).fetch() == article)
    #expect(Service.PathKeys.articles.path.isPrefix(of: Article.LatestQuery().path))
  }

  @Test
  func `A module on the main actor has keys without isolation`() async throws {
    let key = Screens.PathKeys.Screen.title(of: .start)
    #expect(key.path == ["Screen", "title", Screen.start])
    #expect(TitleQuery(of: .start).path == key.path)
    var context = OperationContext()
    context.screen = .end
    let title = try await OperationClient(defaultContext: context).store(for: TitleQuery(of: .start)).fetch()
    #expect(title == "end")
  }

  @Test
  func `Context entries have their defaults, and can be set`() async throws {
    #expect(OperationContext().screen == nil)
    #expect(OperationContext().friendships.isEmpty)
    let store = self.client.store(for: User.FriendsQuery(userId: "a"))
    store.context.friendships = ["a": [User(id: "b")]]
    #expect(try await store.fetchNextPage()?.value == [User(id: "b")])
  }
}

private struct OneArticle: Library {
  var latest: Article? { Article(number: 1, title: "One") }

  func article(number: Article.Number) throws -> Article { Article(number: number, title: "One") }
}
