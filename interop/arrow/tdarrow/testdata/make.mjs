import * as a from 'apache-arrow';
import fs from 'fs';
const dict = a.vectorFromArray(['m','f','m',null,'f'], new a.Dictionary(new a.Utf8(), new a.Int8()));
const t = new a.Table({
  id: a.vectorFromArray([1n,2n,3n,4n,5n], new a.Int64()),
  weight: a.vectorFromArray([1.5,null,2.5,null,3], new a.Float64()),
  ok: a.vectorFromArray([true,false,null,true,true], new a.Bool()),
  name: a.vectorFromArray(['ann',null,'','d','eve'], new a.Utf8()),
  sex: dict,
  codes: a.vectorFromArray([[1,2],[],null,[3],[4,5,6]], new a.List(new a.Field('item', new a.Int32(), true))),
  pos: a.vectorFromArray([[1,2],[3,4],[5,6],[7,8],[9,10]], new a.FixedSizeList(2, new a.Field('item', new a.Float32(), false))),
  day: a.vectorFromArray([0,86400000,null,172800000,0].map(x=>x===null?null:new Date(x)), new a.DateDay()),
  at: a.vectorFromArray([0,1000,2000,null,4000], new a.TimestampMillisecond('UTC')),
  obs: a.vectorFromArray([{x:1,y:'a'},{x:2,y:null},null,{x:null,y:'d'},{x:5,y:'e'}], new a.Struct([new a.Field('x', new a.Int16(), true), new a.Field('y', new a.Utf8(), true)])),
});
const two = t.concat(t.slice(1,4));
fs.writeFileSync('js.arrow', a.tableToIPC(two,'file'));
fs.writeFileSync('js.arrows', a.tableToIPC(two,'stream'));
console.log(two.batches.length, two.schema.toString());
