import Foundation
import Operation
import OperationPathKeyGeneration
import TestFixtures
import Testing

/// `PathKeys.swift` in this folder is generated from the files in `Input`, and compiled with these tests.
@Suite(.bounded)
struct SnapshotTests {
  @Test
  func `The generator produces the code that is compiled here`() throws {
    let folder = URL(filePath: #filePath).deletingLastPathComponent()
    let names = ["OperationPaths", "Posts.OperationPaths", "Line.OperationPaths", "Links.OperationPaths"].map {
      "\($0).json"
    }
    let files = try names.map { name in
      SourceFile(path: name, bytes: Array(try Data(contentsOf: folder.appending(path: "Input/\(name)"))))
    }
    let code = try PathKeyGenerator.generate(from: files, importing: "Operation")
    let snapshot = try String(contentsOf: folder.appending(path: "PathKeys.swift"), encoding: .utf8)
    // Contributing/Modules.md says how to update it.
    expect(code, equals: snapshot)
  }

  @Test
  func `Keys have the paths of their names and parameters`() {
    expect(PathKeys.path, equals: [])
    expect(PathKeys.users.path, equals: ["users"])
    expect(PathKeys.users.profile(id: 1).path, equals: ["users", "profile", 1])
    expect(PathKeys.users.friends.path, equals: ["users", "friends"])
    expect(PathKeys.users.posts(userId: 2).path, equals: ["users", "posts", 2])
    expect(PathKeys.posts.latest.path, equals: ["posts", "latest"])
    expect(PathKeys.posts.first(of: 1).path, equals: ["posts", "first", 1])
    expect(PathKeys.class.path, equals: ["class"])
    let path = PathKeys.class.default(in: 1, let: nil, `inout`: true, where: [2: "b"], await: 3).path
    expect(path, equals: ["class", "default", 1, String?.none, true, [2: "b"], 3])
    expect(PathKeys.User.avatar(of: 1, size: 2).path.count, equals: 4)
    expect(PathKeys.état(en: "a").path, equals: ["état", "a"])
  }

  @Test
  func `A parameter can be left out`() {
    expect(PathKeys.shop.search(text: "a").path, equals: ["shop", "search", "a", 1, String?.none])
    let path = PathKeys.shop.search(text: "a", page: 2, shelf: "b").path
    expect(path, equals: ["shop", "search", "a", 2, String?.some("b")])
  }

  @Test
  func `The key of a path is found, also by texts, as deep links have them`() {
    for path: OperationPath in [["shop", "article", 7], ["shop", "article", "7"]] {
      guard case .shop_article(id: 7)? = DeepLink(path) else {
        Issue.record("\(String(describing: DeepLink(path)))")
        continue
      }
    }
    for path: OperationPath in [["shop", "article", "seven"], ["shop", "article"], []] {
      #expect(DeepLink(path) == nil)
    }
    expect(DeepLink(PathKeys.shop.search(text: "a").path)?.path, equals: PathKeys.shop.search(text: "a").path)
    expect(DeepLink(PathKeys.users.profile(id: 1).path)?.path, equals: ["users", "profile", 1])
    expect(DeepLink(PathKeys.signUp.path)?.path, equals: ["signUp"])
    expect(OldCart().path, equals: ["shop", "cart"])
  }

  @Test
  func `A default value has a regular expression with a quotation mark`() {
    expect(OperationContext().unquoted, equals: "a-b")
  }

  @Test
  func `An operation has the path of its key, and its own members in it`() {
    expect(User.ProfileQuery(id: 7).path, equals: ["users", "profile", 7])
    expect(User.FriendsQuery(userId: 7).path, equals: ["users", "friends", 7])
    expect(SignUp().path, equals: ["signUp"])
    expect(
      Keywords(in: 1, let: "a", `inout`: true, where: [:], await: 2).path,
      equals: PathKeys.class.default(in: 1, let: "a", `inout`: true, where: [:], await: 2).path
    )
    expect(OperationPathKey(User.ProfileQuery(id: 7)), equals: PathKeys.users.profile(id: 7))
    expect(OperationPathKey(SignUp()), equals: PathKeys.signUp)
  }

  @Test
  func `A client finds the store of a key, with its state`() async throws {
    let client = OperationClient()
    let friends = client.store(for: User.FriendsQuery(userId: 1))
    try await friends.fetchNextPage()
    let found = try #require(client.store(with: PathKeys.users.friends(userId: 1)))
    #expect(found === friends)
    expect(found.currentValue.first?.value, equals: [User(id: 2)])
    #expect(client.store(with: PathKeys.users.friends(userId: 2)) == nil)

    let names = client.store(for: User.NamesQuery().defaultValue([]))
    #expect(client.store(with: PathKeys.users.names) === names)
    expect(client.store(with: PathKeys.users.names)?.currentValue, equals: [])
    #expect(client.store(with: PathKeys.signUp) == nil)
  }

  @Test
  func `Prefixes find the stores below them`() {
    let client = OperationClient()
    let profiles = [1, 2].map { client.store(for: User.ProfileQuery(id: $0)) }
    _ = client.store(for: User.FriendsQuery(userId: 1))
    let found: [OperationStore<QueryState<User, any Error>>] = client.stores(matching: PathKeys.users.profile).map(
      \.self
    )
    expect(Set(found.map(ObjectIdentifier.init)), equals: Set(profiles.map(ObjectIdentifier.init)))
    expect(client.stores(matching: PathKeys.users.profile(id: 1)).map(\.path), equals: [["users", "profile", 1]])
    expect(client.stores(matching: PathKeys.users.path).count, equals: 3)
    expect(client.stores(matching: PathKeys.path).count, equals: 3)
    client.clearStores(matching: PathKeys.users.profile.path)
    expect(client.stores(matching: PathKeys.users.path).count, equals: 1)
  }

  @Test
  func `Stores below a prefix are edited together`() {
    let client = OperationClient()
    _ = client.store(for: User.ProfileQuery(id: 1))
    client.withStores(matching: PathKeys.users.profile) { stores, create in
      stores.update(create(for: User.ProfileQuery(id: 2), initialValue: User(id: 2)))
    }
    expect(client.store(with: PathKeys.users.profile(id: 2))?.currentValue, equals: User(id: 2))
  }

  @Test
  func `Context entries have a default, a type and a setter`() async throws {
    var context = OperationContext()
    expect(context.greeter.greeting(for: "a"), equals: "Good day, a")
    expect(context.token, equals: nil)
    expect(context.limits, equals: ["friends": 42])
    expect(context.class, equals: 1)
    expect(context.region, equals: nil)
    expect(context.depth, equals: 3)
    var numbers = [1, 2]
    #expect(context.adapt(&numbers) == 2 && numbers == [1])
    context.greeter = Shortly()
    context.token = "t"
    context.class += 1
    #expect(context.token == "t" && context.class == 2)
    let names = try await OperationClient(defaultContext: context).store(for: User.NamesQuery()).fetch()
    expect(names, equals: ["Blob"])
  }
}
