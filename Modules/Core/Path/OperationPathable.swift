/// Something that lives at a path, such as the store of an operation.
public protocol OperationPathable {
  /// Where this value lives; it stays the same for as long as the value is in a collection.
  var path: OperationPath { get }
}
