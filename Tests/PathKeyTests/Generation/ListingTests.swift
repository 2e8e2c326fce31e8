import OperationPathKeyGeneration
import TestFixtures
import Testing

@Suite(.bounded)
struct ListingTests {
  private func target(_ name: String, _ text: String) throws -> TargetPaths {
    try TargetPaths(name: name, files: [SourceFile(path: "\(name).json", text: text)])
  }

  private func conflicts(_ one: String, _ two: String) throws -> [String] {
    let targets = try [self.target("One", "{ paths: { \(one) } }"), self.target("Two", "{ paths: { \(two) } }")]
    return PathConflicts.diagnostics(of: targets).map(\.description)
  }

  @Test
  func `The tree shows keys with their operations and states`() throws {
    let app = try self.target(
      "App",
      "{ paths: { users: { me: { operation: 'User.Query' }, all: { parameters: { page: 'Int' }, state: 'S' } } } }"
    )
    let core = try self.target("Core", "{ context: { token: { type: 'Int?' } } }")
    expect(
      PathListing.text(of: [app, core]),
      equals: """
        App
          users
            me              User.Query  User.Query.State
            all(page: Int)  -           S
        Core

        """
    )
  }

  @Test
  func `The list is JSON for other tools`() throws {
    let app = try self.target(
      "App",
      "{ paths: { me: { operation: 'User.Query' },\n all: { parameters: { page: '[Int\\t]' }, state: 'S' } } }"
    )
    expect(
      PathListing.json(of: [app]),
      equals: #"""
        [
          {
            "target": "App",
            "paths": [
              {"path": ["me"], "operation": "User.Query", "state": "User.Query.State", "file": "App.json", "line": 1},
              {"path": ["all", {"parameter": "page", "type": "[Int\u0009]"}], "operation": null, "state": "S", "file": "App.json", "line": 2}
            ]
          }
        ]

        """#
    )
    expect(PathListing.json(of: []), equals: "[]\n")
  }

  @Test
  func `A path of two targets is reported at the second`() throws {
    let me = "me: { state: 'S' }"
    let found = try self.conflicts("users: { \(me) }", "users: { \(me) }")
    expect(
      found,
      equals: [
        "Two.json:1:21: error: the path [\"users\", \"me\"] of 'Two' is a path of 'One' too, [\"users\", \"me\"] at One.json:1:21; "
          + "rename one of the two keys, or move them to a target that both use"
      ]
    )
  }

  @Test(arguments: [("String", true), ("User.ID", true), ("Int", false), ("Bool", false)])
  func `A parameter conflicts with a name if its value may be that text`(type: String, conflicts: Bool) throws {
    let found = try self.conflicts(
      "users: { parameters: { id: '\(type)' }, state: 'S' }",
      "users: { me: { state: 'S' } }"
    )
    expect(found.count, equals: (conflicts ? 1 : 0))
    #expect(found.allSatisfy { $0.contains("of 'Two' may be a path of 'One' too") })
  }

  @Test(arguments: [
    ("Int", "Int", true), ("Int", "UInt", false), ("Int", "User.ID", true), ("[Int]", "Set<Int>", true),
  ])
  func `Parameters conflict unless their types are known to differ`(one: String, two: String, conflicts: Bool) throws {
    func users(_ type: String) -> String { "users: { parameters: { id: '\(type)' }, state: 'S' }" }
    let found = try self.conflicts(users(one), users(two))
    expect(found.count, equals: (conflicts ? 1 : 0))
  }

  @Test
  func `Paths with different lengths or names do not conflict`() throws {
    let other = [
      ("a: { state: 'S' }", "b: { state: 'S' }"),
      ("a: { state: 'S' }", "a: { parameters: { id: 'Int' }, state: 'S' }"),
      ("a: { b: { state: 'S' } }", "a: { c: { state: 'S' } }"),
    ]
    for (one, two) in other {
      let found = try self.conflicts(one, two)
      #expect(found.isEmpty)
    }
  }
}
