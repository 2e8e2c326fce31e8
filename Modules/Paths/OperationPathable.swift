/// A value with a path, such as the store of an operation.
public protocol OperationPathable {
  /// The path of this value. It does not change while the value is in a collection.
  var path: OperationPath { get }
}
