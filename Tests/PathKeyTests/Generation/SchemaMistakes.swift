import OperationPathKeyGeneration

/// Mistakes in the contents of one file.
enum SchemaMistakes {
  static let all: [Mistake] = [
    Mistake(.wrongKind, "[]", says: "A.json:1:1: error: the file is an array; expected an object"),
    Mistake(
      .wrongKind,
      "{ paths: { me: { state: null } } }",
      says: "A.json:1:25: error: 'state' is null; expected a string"
    ),
    Mistake(
      .wrongKind,
      "{ paths: { me: 'QueryState<User, any Error>' } }",
      says:
        "A.json:1:16: error: 'me' is a string, expected a namespace or a key; "
        + "write an object with 'state', or with nodes below it"
    ),
    Mistake(
      .wrongKind,
      "{ paths: { state: 'QueryState<User, any Error>' } }",
      says:
        "A.json:1:19: error: 'state' is a string, expected a namespace or a key; "
        + "put the fields of a key under the key's name"
    ),
    Mistake(
      .wrongKind,
      "{ imports: 'Models', paths: { me: { state: 'S' } } }",
      says: "A.json:1:12: error: 'imports' is a string; expected an array of module names"
    ),
    Mistake(
      .unknownField,
      "{ path: {}, paths: { me: { state: 'S', Parameters: {}, cost: 1 } } }",
      says: "A.json:1:3: error: the file has no field 'path'; did you mean 'paths'?",
      "A.json:1:40: error: the key 'me' has no field 'Parameters'; did you mean 'parameters'?",
      "A.json:1:56: error: the key 'me' has no field 'cost'; "
        + "the fields are 'parameters', 'operation', 'state', 'doc', 'deprecated', 'renamed'"
    ),
    Mistake(
      .invalidAccess,
      "{ access: 'private', paths: { me: { state: 'S' } } }",
      says:
        "A.json:1:11: error: 'private' is no access level for path keys; "
        + "write \"internal\", \"package\" or \"public\""
    ),
    Mistake(
      .invalidImport,
      "{ imports: ['Models; print()'], paths: { me: { state: 'S' } } }",
      says:
        "A.json:1:13: error: 'Models; print()' is not a module; "
        + "write the name of a module, such as \"Models\" or \"internal Models\""
    ),
    Mistake(
      .invalidName,
      "{ paths: { 'user-friends': { state: 'S' }, '2nd': { state: 'S' }, '!': { state: 'S' } } }",
      says: "A.json:1:12: error: 'user-friends' is not a Swift identifier; write 'userFriends'",
      "A.json:1:44: error: '2nd' is not a Swift identifier; write '_2nd'",
      "A.json:1:67: error: '!' is not a Swift identifier; give it a name of letters, digits and '_'"
    ),
    Mistake(
      .reservedName,
      "{ paths: { path: { me: { state: 'S' } }, Type: { state: 'S' }, me: { parameters: { self: 'Int' }, state: 'S' } } }",
      says:
        "A.json:1:12: error: the name 'path' is taken: it is the prefix of a namespace; choose another, such as 'pathKey'",
      "A.json:1:42: error: the name 'Type' is taken: it is the type's type in Swift; choose another, such as 'typeKey'",
      "A.json:1:84: error: the name 'self' is taken: it is the value itself in Swift; choose another, such as 'selfValue'"
    ),
    Mistake(
      .reservedName,
      "{ paths: { me: { parameters: { path: 'String' }, operation: 'User.Query' } } }",
      says:
        "A.json:1:32: error: the name 'path' is taken: it is the path that the operation gets; "
        + "choose another, such as 'pathValue'"
    ),
    Mistake(
      .emptyTree,
      "{ paths: { users: {} } }",
      says:
        "A.json:1:12: error: the namespace 'users' is empty; "
        + "add a key, such as me: { state: \"QueryState<User, any Error>\" }, or remove it"
    ),
    Mistake(
      .emptyTree,
      "{ paths: {}, context: {} }",
      says:
        "A.json:1:3: error: 'paths' is empty; "
        + "add a key, such as me: { state: \"QueryState<User, any Error>\" }, or remove it",
      "A.json:1:23: error: 'context' is empty; add an entry, or remove it"
    ),
    Mistake(
      .emptyTree,
      "{}",
      says:
        "A.json:1:1: error: the file has neither 'paths' nor 'context'; "
        + "add a key, such as paths: { me: { state: \"QueryState<User, any Error>\" } }"
    ),
    Mistake(
      .missingState,
      "{ paths: { me: { parameters: { id: 'Int' } } } }",
      says:
        "A.json:1:12: error: the key 'me' has neither 'state' nor 'operation'; "
        + "add the type of its state, such as state: \"QueryState<User, any Error>\""
    ),
    Mistake(
      .missingType,
      "{ context: { token: { default: 'nil' } } }",
      says:
        "A.json:1:14: error: the context entry 'token' has no 'type'; "
        + "add one, such as type: \"any HTTPDataTransport\""
    ),
    Mistake(
      .missingDefault,
      "{ context: { token: { type: 'String' } } }",
      says:
        "A.json:1:14: error: the context entry 'token' has no 'default'; "
        + "add one, such as default: \"URLSession.shared\", or make the type optional"
    ),
    Mistake(
      .malformedType,
      "{ paths: { me: { parameters: { id: 'Array<Int' }, state: 'S }; func f() {' } } }",
      says: "A.json:1:42: error: '<' is never closed in the type 'Array<Int'; close it by '>'",
      "A.json:1:61: error: expected the end of the type, found '}', in the type 'S }; func f() {'; "
        + "write one type and nothing else"
    ),
    Mistake(
      .malformedExpression,
      "{ context: { token: { type: 'Int', default: '1 }; enum Evil {' } } }",
      says: "A.json:1:48: error: '}' closes no bracket in the expression '1 }; enum Evil {'; remove it"
    ),
    // The quoted text has several lines, and the message has one.
    Mistake(
      .wrongKind,
      #"{ "paths": { "a\nb": 1 } }"#,
      says: "A.json:1:22: error: 'a b' is a number, expected a namespace or a key; "
        + "write an object with 'state', or with nodes below it"
    ),
    Mistake(
      .wrongKind,
      #"{ paths: { me: { parameters: { "a\nb": 1 }, state: "S" } } }"#,
      says: "A.json:1:32: error: 'a b' is not a Swift identifier; write 'aB'",
      "A.json:1:40: error: 'a b' is a number; expected a string"
    ),
    Mistake(
      .emptyTree,
      #"{ paths: { "a\nb": {} } }"#,
      says: "A.json:1:12: error: 'a b' is not a Swift identifier; write 'aB'",
      "A.json:1:12: error: the namespace 'a b' is empty; "
        + "add a key, such as me: { state: \"QueryState<User, any Error>\" }, or remove it"
    ),
    Mistake(
      .missingState,
      #"{ paths: { "a\nb": { parameters: { id: "Int" } } } }"#,
      says: "A.json:1:12: error: 'a b' is not a Swift identifier; write 'aB'",
      "A.json:1:12: error: the key 'a b' has neither 'state' nor 'operation'; "
        + "add the type of its state, such as state: \"QueryState<User, any Error>\""
    ),
    Mistake(
      .missingType,
      #"{ context: { "a\nb": {} } }"#,
      says: "A.json:1:14: error: 'a b' is not a Swift identifier; write 'aB'",
      "A.json:1:14: error: the context entry 'a b' has no 'type'; add one, such as type: \"any HTTPDataTransport\""
    ),
    Mistake(
      .malformedOperation,
      "{ paths: { me: { operation: 'Cached<User>.Query' } } }",
      says:
        "A.json:1:30: error: 'Cached<User>.Query' cannot get a path from here; "
        + "name a type without generic arguments, such as \"User.ProfileQuery\", or remove 'operation'"
    ),
  ]
}
