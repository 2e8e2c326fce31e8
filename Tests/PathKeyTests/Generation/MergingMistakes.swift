import OperationPathKeyGeneration

/// Conflicts between the files of a target, and within their tree.
enum MergingMistakes {
  static let all: [Mistake] = [
    Mistake(
      .duplicatePath,
      "{ paths: { users: { me: { state: 'S' } } } }",
      "{ paths: { users: { me: { state: 'T' } } } }",
      says:
        "B.json:1:21: error: the path [\"users\", \"me\"] is defined twice, first at A.json:1:21; "
        + "remove or rename one of the two keys"
    ),
    Mistake(
      .ambiguousPath,
      "{ paths: { users: { parameters: { name: 'String' }, state: 'S' } } }",
      "{ paths: { users: { me: { state: 'S' } } } }",
      says:
        "B.json:1:12: error: [\"users\"] is a key at A.json:1:12 and a namespace here, so a parameter of the key could "
        + "make the path of a key in the namespace; rename one of the two"
    ),
    Mistake(
      .duplicateOperation,
      "{ paths: { a: { operation: 'User.Query' }, b: { operation: 'User . `Query`' } } }",
      says:
        "A.json:1:61: error: 'User.Query' has a path already, from the key at A.json:1:29; "
        + "remove 'operation' from one of the two keys"
    ),
    Mistake(
      .duplicateEntry,
      "{ context: { token: { type: 'Int?' } } }",
      "{ context: { token: { type: 'Int?' } } }",
      says: "B.json:1:14: error: the context entry 'token' is defined twice, first at A.json:1:14; remove or rename one"
    ),
    Mistake(
      .accessDisagrees,
      "{ access: 'public', context: { a: { type: 'Int?' } } }",
      "{ context: { b: { type: 'Int?' } } }",
      "{ access: 'internal', context: { c: { type: 'Int?' } } }",
      says:
        "C.json:1:11: error: the access level is 'internal' here and 'public' at A.json:1:11; "
        + "write the same in all files of the target, or in one of them alone"
    ),
    Mistake(
      .secondDocumentation,
      "{ paths: { users: { doc: 'One.', a: { state: 'S' } } } }",
      "{ paths: { users: { doc: 'Two.', b: { state: 'S' } } } }",
      says: "B.json:1:26: error: the namespace [\"users\"] is described here and at A.json:1:26; keep one 'doc'"
    ),
    Mistake(
      .hiddenType,
      "{ paths: { User: { a: { state: 'S' } }, me: { state: 'QueryState<[User], any Error>' } } }",
      says:
        "A.json:1:55: error: the namespace 'User' at A.json:1:12 hides the type 'User' of the key 'me'; "
        + "rename the namespace, or write the module before the type"
    ),
    Mistake(
      .hiddenType,
      "{ paths: { OperationPath: { a: { state: 'S' } } } }",
      says:
        "A.json:1:12: error: the namespace 'OperationPath' hides the type that the generated code uses; "
        + "rename the namespace"
    ),
    Mistake(
      .hiddenType,
      "{ context: { a: { type: '[Key]?' }, b: { type: 'Value?' }, c: { type: '[Models.Key: Key.Value]?' } } }",
      says:
        "A.json:1:26: error: the context's own 'Key' hides the type 'Key' of the context entry 'a'; "
        + "write the module before the type, or give the type another name by a typealias",
      "A.json:1:49: error: the context's own 'Value' hides the type 'Value' of the context entry 'b'; "
        + "write the module before the type, or give the type another name by a typealias",
      "A.json:1:72: error: the context's own 'Key' hides the type 'Key' of the context entry 'c'; "
        + "write the module before the type, or give the type another name by a typealias"
    ),
  ]
}
